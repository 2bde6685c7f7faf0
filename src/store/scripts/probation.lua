-- Parks an account on whose time has come, for twice as long. KEYS 1 the parking. ARGV 4 longest
-- wait ms. Gives 1 to the one that is to probe.
local p = parking(KEYS[1])
if not p or p.till > now then
  return 0
end
p.wait = math.min(p.wait * 2, tonumber(ARGV[4]))
p.till = now + p.wait
keep_parking(KEYS[1], p)
return 1

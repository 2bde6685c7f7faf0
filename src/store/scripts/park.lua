-- Parks an account; one that is parked stays as it is. KEYS 1 the parking. ARGV 4 reason, 5 wait ms.
-- Gives {since, until, wait, reason, 1 when it is new}.
local p, fresh = parking(KEYS[1]), '0'
if not p then
  p = {since = now, till = now + tonumber(ARGV[5]), wait = tonumber(ARGV[5]), reason = ARGV[4]}
  keep_parking(KEYS[1], p)
  fresh = '1'
elseif again and p.since == now then
  fresh = '1'
end
local result = shown(p)
result[5] = fresh
return result

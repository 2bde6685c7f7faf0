-- Gives a lane back. KEYS 1-6 the queue. ARGV 4 queue, 5 lane, 6 token, 7 until. Gives 1, or 0 when
-- the lease is lost.
local q = queue(1, ARGV[4])
if not holds(q, ARGV[5], ARGV[6]) then
  return 0
end
give_back(q, ARGV[5], tonumber(ARGV[7]))
return 1

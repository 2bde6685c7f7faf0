-- Removes the head and the lease. KEYS 1-6 the queue. ARGV 4 queue, 5 lane, 6 token. Gives 1, or 0
-- when the lease is lost.
local q = queue(1, ARGV[4])
if not holds(q, ARGV[5], ARGV[6]) then
  return 0
end
drop_head(q, ARGV[5])
return 1

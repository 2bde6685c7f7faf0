-- Moves the head to the poison list. KEYS 1-6 the queue, 7 the list. ARGV 4 queue, 5 lane, 6 token,
-- 7 reason. Gives 1, or 0 when the lease is lost.
local q = queue(1, ARGV[4])
if not holds(q, ARGV[5], ARGV[6]) then
  return 0
end
local item = redis.call('LINDEX', q.lane, 0)
if item then
  redis.call('XADD', KEYS[7], 'MAXLEN', 1000, '*', 'at', whole(now), 'queue', q.name,
    'lane', ARGV[5], 'item', item, 'reason', ARGV[7])
end
drop_head(q, ARGV[5])
return 1

-- Appends an item to a lane.
-- KEYS 1-6 the queue. ARGV 4 queue, 5 lane, 6 item, 7 due or ''. Gives the lane's depth.
local q = queue(1, ARGV[4])
if again and redis.call('LPOS', q.lane, ARGV[6], 'RANK', -1) then
  return redis.call('LLEN', q.lane)
end
return push(q, ARGV[5], ARGV[6], tonumber(ARGV[7]))

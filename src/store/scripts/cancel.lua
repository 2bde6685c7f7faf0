-- Writes, and takes the send's item out of its lane. KEYS 1-5 the record, 6-11 the queue. ARGV 4-13
-- the write, 14 queue, 15 lane. Gives as `commit`, or {'lost'} when the item is being worked.
if written(1, 4) then
  return {'was'}
end
local q, lane, item = queue(6, ARGV[14]), ARGV[15], ARGV[4]
local head = redis.call('LINDEX', q.lane, 0) == item
if head and redis.call('HEXISTS', q.own, lane) == 1 then
  return {'lost'}
end
local result = write(1, 4, nil)
if result[1] == 'done' and redis.call('LREM', q.lane, 1, item) == 1 then
  redis.call('DECR', q.items)
  if redis.call('LLEN', q.lane) == 0 then
    -- A ready name that outlives its lane is dropped by the next claim.
    redis.call('ZREM', q.due, lane)
  elseif head and redis.call('ZREM', q.due, lane) == 1 then
    place_next(q, lane)
  end
end
return result

-- Writes, and appends the send to its lane again. KEYS 1-5 the record, 6-11 the queue. ARGV 4-13 the
-- write, 14 queue, 15 lane, 16 backlog bound, 17 lane bound. Gives as `commit`, or {'full', depth}.
if written(1, 4) then
  return {'was'}
end
local q = queue(6, ARGV[14])
local all, lane = tonumber(redis.call('GET', q.items) or 0), redis.call('LLEN', q.lane)
if all >= tonumber(ARGV[16]) then
  return {'full', all}
end
if lane >= tonumber(ARGV[17]) then
  return {'full', lane}
end
local result = write(1, 4, nil)
if result[1] == 'done' then
  push(q, ARGV[15], ARGV[4], nil)
end
return result

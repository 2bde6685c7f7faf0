-- Writes a fact again that this server may have lost. KEYS 1-5 the record, 6-11 the queue, 12 the
-- provider id. ARGV 4-13 the write, 14 queue, 15 lane, 16 token or '', 17 `<channel>:<hash>` or '',
-- 18 part, 19 the lease in ms when the lane went on being held, or '' when its head went along.
-- Gives 1 when the record was older and moved to the fact, else 0.
local stored = redis.call('GET', KEYS[1])
local rev = stored and tonumber(string.match(stored, '^(%d+)'))
local own = tonumber(string.match(ARGV[6], '^(%d+)'))
if not rev or not own or rev >= own then
  return 0
end
-- What lay between the two is lost: the fact follows what is there.
ARGV[5] = whole(rev)
local provider = ARGV[17] ~= '' and ARGV[17] or nil
if write(1, 4, provider)[1] ~= 'done' then
  return 0
end
if provider then
  redis.call('SET', KEYS[12], ARGV[4] .. ':' .. ARGV[18])
end
local q, lane, token = queue(6, ARGV[14]), ARGV[15], ARGV[16]
if token == '' then
  return 1
end
local lease = tonumber(ARGV[19])
if not lease then
  if holds(q, lane, token) then
    drop_head(q, lane)
  end
elseif redis.call('LINDEX', q.lane, 0) == ARGV[4] and redis.call('HEXISTS', q.own, lane) == 0 then
  -- Its worker goes on: nobody else is to take the lane. A ready name it has is dropped by a claim.
  redis.call('ZREM', q.due, lane)
  redis.call('HSET', q.own, lane, token .. ' 0')
  redis.call('ZADD', q.lease, whole(now + lease), lane)
end
return 1

-- Records an inbound message. KEYS 1 message, 2 the channel's messages, 3 the address's thread id,
-- 4 thread, 5 the channel's threads, 6 the thread's messages, 7 claim, 8 visitor, 9 transcript.
-- ARGV 4 id, 5 reception, 6 message, 7 thread id, 8 thread, 9 kept for (ms), 10 '1' with a claim,
-- 11 claim kept for (ms), 12 fingerprint, 13 '1' with a frame, 14-19 the append.
-- Gives {'done'}, {'seen', id, '1' when it said the same}, {'thread', id}, or an append's hindrance.
local THREAD = 5000
if redis.call('EXISTS', KEYS[1]) == 1 then
  return {'done'}
end
if ARGV[10] == '1' then
  local held = redis.call('GET', KEYS[7])
  if held then
    local deadline, id, fingerprint = string.match(held, '^(%d+) (%S+) (.*)$')
    if tonumber(deadline) > now then
      return {'seen', id, fingerprint == ARGV[12] and '1' or '0'}
    end
  end
end
local thread = redis.call('GET', KEYS[3])
if thread and thread ~= ARGV[7] then
  return {'thread', thread}
end
if ARGV[13] == '1' then
  local hindered = hindrance(8, 14)
  if hindered then
    return hindered
  end
end
local keep = ARGV[9]
if ARGV[10] == '1' then
  local deadline = whole(now + tonumber(ARGV[11]))
  local held = deadline .. ' ' .. ARGV[4] .. ' ' .. ARGV[12]
  redis.call('SET', KEYS[7], held, 'PX', whole(tonumber(ARGV[11]) + HOUR))
end
redis.call('SET', KEYS[1], ARGV[6], 'PX', keep)
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', whole(tonumber(ARGV[5]) - tonumber(keep)))
redis.call('SET', KEYS[3], ARGV[7], 'PX', keep)
redis.call('SET', KEYS[4], ARGV[8], 'PX', keep)
redis.call('ZADD', KEYS[5], ARGV[5], ARGV[7])
redis.call('ZREMRANGEBYSCORE', KEYS[5], '-inf', whole(tonumber(ARGV[5]) - tonumber(keep)))
redis.call('ZADD', KEYS[6], ARGV[5], ARGV[4])
redis.call('ZREMRANGEBYRANK', KEYS[6], 0, -THREAD - 1)
redis.call('PEXPIRE', KEYS[6], keep)
if ARGV[13] == '1' then
  append(8, 14)
end
return {'done'}

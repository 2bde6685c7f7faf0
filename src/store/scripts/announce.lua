-- Counts an occurrence; tells it at most once in a while. KEYS 1 the limiter. ARGV 4 ms between two
-- tellings. Gives how many are told now, this one included, or 0.
local every = tonumber(ARGV[4])
local next_at, untold = string.match(redis.call('GET', KEYS[1]) or '', '^(%-?%d+) (%d+)$')
next_at, untold = tonumber(next_at) or now, tonumber(untold) or 0
if again and untold == 0 and now < next_at and next_at - now > every - HOUR / 60 then
  -- An earlier try of this very step began the wait a moment ago: its answer was lost.
  return 1
end
if now < next_at then
  redis.call('SET', KEYS[1], whole(next_at) .. ' ' .. whole(untold + 1), 'KEEPTTL')
  return 0
end
redis.call('SET', KEYS[1], whole(now + every) .. ' 0', 'PX', whole(2 * every + HOUR))
-- What was counted is told for another such time, then forgotten.
if now < next_at + every then
  return untold + 1
end
return 1

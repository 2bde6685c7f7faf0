-- Removes entries of lapsed slices, then the slices; a slice counts as one row more.
-- KEYS 1 slices' expiries. ARGV 4 rows at most. Gives rows.
local left = tonumber(ARGV[4])
local limit = left
local lapsed = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now), 'LIMIT', 0, left)
for _, audience in ipairs(lapsed) do
  local key = T .. 'inbox:aud:' .. audience
  if left > 0 then
    local gone = redis.call('ZPOPMIN', key, left)
    for at = 1, #gone, 2 do
      unlist(gone[at])
      left = left - 1
    end
  end
  if left > 0 then
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[1], audience)
    left = left - 1
  end
end
return limit - left

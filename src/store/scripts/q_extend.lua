-- Moves deadlines. KEYS in pairs, one for each hold: lease, own.
-- ARGV 4 lease in ms, then (lane, token) for each hold. Gives the numbers of those still held.
local deadline, still = whole(now + tonumber(ARGV[4])), {}
for at = 1, #KEYS / 2 do
  local lane, token = ARGV[3 + 2 * at], ARGV[4 + 2 * at]
  if holds({own = KEYS[2 * at]}, lane, token) then
    redis.call('ZADD', KEYS[2 * at - 1], deadline, lane)
    still[#still + 1] = at
  end
end
return still

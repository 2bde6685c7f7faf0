-- Moves expiries up, never down. KEYS 1 ids by expiry, then a row for each id. ARGV 4 until, then
-- the ids. Gives nothing.
local till = tonumber(ARGV[4])
for at = 2, #KEYS do
  local row = redis.call('HMGET', KEYS[at], 'size', 'expires')
  local expires = tonumber(row[2] or 0)
  if expires > now and expires < till then
    redis.call('HSET', KEYS[at], 'expires', ARGV[4])
    redis.call('ZADD', KEYS[1], ARGV[4], ARGV[3 + at])
    for piece = 0, pieces_of(tonumber(row[1])) - 1 do
      redis.call('PEXPIRE', KEYS[at] .. ':' .. piece, whole(till - now + HOUR))
    end
  end
end

-- Reads a slice, newest first; one whose lifetime has passed is empty.
-- KEYS 1 slice, 2 slices' expiries. ARGV 4 audience's hash, 5 number to read below or '+inf',
-- 6 how many. Gives ids and numbers in turn.
local expires = redis.call('ZSCORE', KEYS[2], ARGV[4])
if not expires or tonumber(expires) <= now then
  return {}
end
return redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[5], '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[6])

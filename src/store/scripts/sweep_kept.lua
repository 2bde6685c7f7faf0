-- Removes kept answers past their deadline. KEYS 1 their expiries. ARGV 4 how many at most.
-- Gives how many.
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now), 'LIMIT', 0, ARGV[4])
for _, hash in ipairs(gone) do
  redis.call('DEL', T .. 'idem:' .. hash)
  redis.call('ZREM', KEYS[1], hash)
end
return #gone

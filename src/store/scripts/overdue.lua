-- Sends not final whose expiry has passed, oldest first. KEYS 1 active. ARGV 4 how many at most.
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now), 'LIMIT', 0, ARGV[4])

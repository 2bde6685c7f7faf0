-- What was handed over is settled. KEYS 1 shelf, 2 shelves by deadline. ARGV 4 `<channel>:<hash>`.
redis.call('DEL', KEYS[1])
return redis.call('ZREM', KEYS[2], ARGV[4])

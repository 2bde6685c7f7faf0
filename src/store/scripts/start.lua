-- What the server is, and that this user may write, publish and expire under the tag.
-- KEYS 1 a key of no other use. Gives INFO's sections as text.
redis.call('SET', KEYS[1], '1', 'PX', 1000)
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', T .. 'wake', '')
return redis.call('INFO', 'server') .. redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')

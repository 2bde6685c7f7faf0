-- A node is alive. KEYS 1 the nodes: `<id>\n<what it says>` by when it was seen. ARGV 4 id, 5 what it
-- says, 6 ms after which a node is forgotten. Gives members and times in turn.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now - tonumber(ARGV[6])))
local own = ARGV[4] .. '\n'
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if string.sub(member, 1, #own) == own and member ~= own .. ARGV[5] then
    redis.call('ZREM', KEYS[1], member)
  end
end
redis.call('ZADD', KEYS[1], whole(now), own .. ARGV[5])
return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')

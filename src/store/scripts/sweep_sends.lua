-- Drops sends whose time has passed, with everything that leads to them. KEYS 1 sends by deadline.
-- ARGV 4 how many at most. Gives how many.
local gone = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now), 'LIMIT', 0, ARGV[4])
for _, send in ipairs(gone) do
  local _, line = pieces(redis.call('GET', T .. 'snd:' .. send) or '')
  if line then
    for ref in string.gmatch(line, '\t([^\t]+)') do
      local index = string.match(ref, '^>(.*)$')
      if not index then
        redis.call('DEL', T .. 'pid:' .. ref)
      else
        redis.call('ZREM', T .. index, send)
        local channel = string.match(index, '^idx:(.*)$')
        if channel then
          redis.call('ZREM', T .. 'dead:' .. channel, send)
        end
      end
    end
    -- The body goes with the last list that holds it.
    local id = string.match(line, '^[^\t]*')
    local key, audience = ending(id)
    if not listed(id, audience) then
      redis.call('DEL', key)
    end
  end
  redis.call('ZREM', T .. 'active', send)
  redis.call('DEL', T .. 'snd:' .. send, T .. 'log:' .. send, T .. 'exc:' .. send)
  redis.call('ZREM', KEYS[1], send)
end
return #gone

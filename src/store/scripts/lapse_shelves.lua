-- Takes shelves whose time has passed. KEYS 1 shelves by deadline, 2 unmatched receipts.
-- ARGV 4 how many at most, 5 ms until one with a known id is taken again, 6 unmatched kept at most,
-- 7 ms they are kept. Gives {`<channel>:<hash>`, shelf, send, part} for each, the last two only when
-- the id is known by now.
local lapsed = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', whole(now), 'LIMIT', 0, ARGV[4])) do
  local key = T .. 'shelf:' .. name
  local shelf = redis.call('GET', key)
  local send, part = known(T .. 'pid:' .. name)
  if not shelf then
    redis.call('ZREM', KEYS[1], name)
  elseif send then
    shelf_until(key, KEYS[1], name, now + tonumber(ARGV[5]))
    lapsed[#lapsed + 1] = {name, shelf, send, part}
  else
    local at = 1
    while at <= #shelf do
      local size = struct.unpack('>I4', shelf, at)
      redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[6], '*', 'at', whole(now),
        'channel', string.match(name, '^[^:]+'), 'receipt', string.sub(shelf, at + 4, at + 3 + size))
      at = at + 4 + size
    end
    redis.call('DEL', key)
    redis.call('ZREM', KEYS[1], name)
    lapsed[#lapsed + 1] = {name, shelf}
  end
end
-- A row's id begins with the server's time.
local oldest = redis.call('TIME')[1] * 1000 - tonumber(ARGV[7])
redis.call('XTRIM', KEYS[2], 'MINID', '~', whole(math.max(oldest, 0)))
return lapsed

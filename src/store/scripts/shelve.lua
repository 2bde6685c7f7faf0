-- Lays a receipt down. KEYS 1 provider id, 2 shelf, 3 shelves by deadline, 4-9 the queue of the hook
-- (used when a token is given). ARGV 4 `<channel>:<hash>`, 5 receipt, 6 kept for ms, 7 most, 8 queue,
-- 9 lane, 10 token or ''. Gives {'kept'}, {'full'} or {'found', send, part}.
local send, part = known(KEYS[1])
if send then
  return {'found', send, part}
end
local shelf = redis.call('GET', KEYS[2]) or ''
local item = struct.pack('>I4', #ARGV[5]) .. ARGV[5]
local count, at, there = 0, 1, false
while at <= #shelf do
  local size = struct.unpack('>I4', shelf, at)
  there = again and string.sub(shelf, at, at + 3 + size) == item
  count, at = count + 1, at + 4 + size
end
if not there then
  if count >= tonumber(ARGV[7]) then
    return {'full'}
  end
  redis.call('SET', KEYS[2], shelf .. item, 'KEEPTTL')
  if shelf == '' then
    shelf_until(KEYS[2], KEYS[3], ARGV[4], now + tonumber(ARGV[6]))
  end
end
local q = queue(4, ARGV[8])
if ARGV[10] ~= '' and holds(q, ARGV[9], ARGV[10]) then
  drop_head(q, ARGV[9])
end
return {'kept'}

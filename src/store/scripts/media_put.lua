-- Makes room for media, then stores their row; the pieces are written between the two.
-- KEYS 1 row, 2 ids by expiry, 3 bytes held. ARGV 4 'ask' or 'store', 5 id, 6 size, 7 bound, 8 type,
-- 9 sha256, 10 created, 11 expires, 12 by. Gives 'there', 'full', 'room' or 'stored'.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 'there'
end
local size, bound = tonumber(ARGV[6]), tonumber(ARGV[7])
local function held()
  return tonumber(redis.call('GET', KEYS[3]) or 0)
end
while held() + size > bound and drop_media(200) > 0 do end
local count = pieces_of(size)
if held() + size > bound then
  if ARGV[4] == 'store' then
    for piece = 0, count - 1 do
      redis.call('DEL', KEYS[1] .. ':' .. piece)
    end
  end
  return 'full'
end
if ARGV[4] == 'ask' then
  return 'room'
end
-- The row stays until it is swept: the bytes held are counted by it.
redis.call('HSET', KEYS[1], 'size', size, 'type', ARGV[8], 'sha256', ARGV[9], 'created', ARGV[10],
  'expires', ARGV[11], 'by', ARGV[12])
for piece = 0, count - 1 do
  redis.call('PEXPIRE', KEYS[1] .. ':' .. piece, whole(math.max(tonumber(ARGV[11]) - now, 0) + HOUR))
end
redis.call('ZADD', KEYS[2], ARGV[11], ARGV[5])
redis.call('INCRBY', KEYS[3], size)
return 'stored'

-- Reads up to one piece's length from any offset. KEYS 1 row. ARGV 4 offset. Gives nothing when it
-- is gone, else bytes.
local row = redis.call('HMGET', KEYS[1], 'size', 'expires')
if not row[2] or tonumber(row[2]) <= now then
  return false
end
local from = math.min(tonumber(ARGV[4]), tonumber(row[1]))
local piece, skip = math.floor(from / PIECE), from % PIECE
local bytes = redis.call('GETRANGE', KEYS[1] .. ':' .. piece, skip, -1)
if skip > 0 then
  bytes = bytes .. redis.call('GETRANGE', KEYS[1] .. ':' .. (piece + 1), 0, skip - 1)
end
return bytes

-- Reads the row of an unexpired id. KEYS 1 row. Gives nothing, or {type, size, sha256, created,
-- expires, by}.
local row = redis.call('HMGET', KEYS[1], 'type', 'size', 'sha256', 'created', 'expires', 'by')
if not row[5] or tonumber(row[5]) <= now then
  return false
end
return row

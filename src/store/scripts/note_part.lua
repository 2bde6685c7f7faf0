-- Writes a fact; no lease is needed. KEYS 1-5 the record, 6-11 the queue (used when a token is
-- given), 12 the provider id (used when a hash is given). ARGV 4-13 the write, 14 queue, 15 lane,
-- 16 token or '', 17 `<channel>:<hash>` or '', 18 part. Gives as `commit`.
if written(1, 4) then
  return {'was'}
end
local provider = ARGV[17] ~= '' and ARGV[17] or nil
local result = write(1, 4, provider)
if result[1] ~= 'done' then
  return result
end
if provider then
  redis.call('SET', KEYS[12], ARGV[4] .. ':' .. ARGV[18])
end
local q = queue(6, ARGV[14])
if ARGV[16] ~= '' and holds(q, ARGV[15], ARGV[16]) then
  drop_head(q, ARGV[15])
end
return result

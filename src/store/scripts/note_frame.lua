-- Writes a part's acceptance and appends its frame. KEYS 1-5 the record, 6-11 the queue (used when a
-- token is given), 12 the provider id, 13 the visitor, 14 the transcript. ARGV 4-13 the write,
-- 14 queue, 15 lane, 16 token or '', 17 `<channel>:<hash>`, 18 part, 19-24 the append.
-- Gives as `commit`, or as an append's hindrance.
if written(1, 4) then
  return {'was'}
end
local hindered = hindrance(13, 19)
if hindered then
  return hindered
end
local result = write(1, 4, ARGV[17])
if result[1] ~= 'done' then
  return result
end
append(13, 19)
redis.call('SET', KEYS[12], ARGV[4] .. ':' .. ARGV[18])
local q = queue(6, ARGV[14])
if ARGV[16] ~= '' and holds(q, ARGV[15], ARGV[16]) then
  drop_head(q, ARGV[15])
end
return result

-- Writes a fact; no lease is needed. KEYS 1-5 the record, 6-11 the queue acknowledged (used when a
-- token is given), 12 provider id, 13 shelf (used when a hash is given), 14 shelves by deadline,
-- 15-20 the queue the send is put into (used when a lane is given). ARGV 4-13 the write, 14 queue,
-- 15 lane, 16 token or '', 17 `<channel>:<hash>` or '', 18 part, 19 queue, 20 lane or '', 21 ms in
-- which a shelf that is handed over is to be cleared. Gives as `commit`; {'done'|'was', shelf} hands
-- the shelf over.
local provider = ARGV[17] ~= '' and ARGV[17] or nil
local function shelf()
  local waiting = provider and redis.call('GET', KEYS[13])
  if waiting then
    shelf_until(KEYS[13], KEYS[14], provider, now + tonumber(ARGV[21]))
  end
  return waiting or ''
end
if written(1, 4) then
  return {'was', shelf()}
end
local result = write(1, 4, provider)
if result[1] ~= 'done' then
  return result
end
if provider then
  redis.call('SET', KEYS[12], ARGV[4] .. ':' .. ARGV[18])
end
if ARGV[20] ~= '' then
  push(queue(15, ARGV[19]), ARGV[20], ARGV[4], nil)
end
local q = queue(6, ARGV[14])
if ARGV[16] ~= '' and holds(q, ARGV[15], ARGV[16]) then
  drop_head(q, ARGV[15])
end
return {'done', shelf()}

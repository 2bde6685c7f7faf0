-- Records a notification: entry, body, send record, indexes, job, kept answer; all or nothing.
-- KEYS 1 body, 2 sequence, 3 ring, 4 slice, 5 slices' expiries, 6 kept answer, 7 its expiries,
-- 8 record, 9 channel index, 10 recipient index, 11 active, 12-17 the queue, 18… owners' indexes
-- (those of what is not there stand for nothing).
-- ARGV 4 id, 5 body, 6 hash of the audience or '', 7 ring, 8 slice lifetime ms, 9 key's hash or '',
-- 10 fingerprint, 11 state, 12 kept for ms, 13 send or '', 14 header, 15 rest, 16 made at,
-- 17 expires at, 18 backlog bound, 19 lane bound, 20 queue, 21 lane.
-- The last two: trace or '', ms it is kept.
-- Gives {'opened'}, {'twin', state}, {'conflict'}, {'opted_out'} or {'full', depth}.
local id, audience, send = ARGV[4], ARGV[6], ARGV[13]
if redis.call('EXISTS', KEYS[1]) == 1 then
  return {'opened'}
end
if ARGV[9] ~= '' then
  local kept = redis.call('GET', KEYS[6])
  local space = kept and string.find(kept, ' ', 1, true)
  if kept and tonumber(string.sub(kept, 1, space - 1)) > now then
    if string.sub(kept, space + 1, space + 32) == ARGV[10] then
      return {'twin', string.sub(kept, space + 33)}
    end
    return {'conflict'}
  end
end
local q = queue(12, ARGV[20])
if send ~= '' then
  if opt_letter(string.match(ARGV[20], '^out%.(.*)$'), ARGV[21]) == 'a' then
    return {'opted_out'}
  end
  local all = tonumber(redis.call('GET', q.items) or 0)
  if all >= tonumber(ARGV[18]) then
    return {'full', all}
  end
  local lane = redis.call('LLEN', q.lane)
  if lane >= tonumber(ARGV[19]) then
    return {'full', lane}
  end
end
local ending_bytes = audience .. send .. (audience == '' and '-' or 'a') .. (send == '' and '-' or 's')
redis.call('SET', KEYS[1], ARGV[5] .. ending_bytes)
local sequence = redis.call('INCR', KEYS[2])
local ring, evicted = math.max(tonumber(ARGV[7]), 1), {}
local function trim(key)
  local over = math.min(redis.call('ZCARD', key) - ring, 200)
  if over > 0 then
    local gone = redis.call('ZPOPMIN', key, over)
    for at = 1, #gone, 2 do
      evicted[#evicted + 1] = string.match(gone[at], '^[^:]+')
    end
  end
end
redis.call('ZADD', KEYS[3], sequence, audience == '' and id or id .. ':' .. audience)
trim(KEYS[3])
if audience ~= '' then
  local expires = redis.call('ZSCORE', KEYS[5], audience)
  if expires and tonumber(expires) <= now then
    for _, old in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
      evicted[#evicted + 1] = old
    end
    redis.call('DEL', KEYS[4])
  end
  redis.call('ZADD', KEYS[5], whole(now + tonumber(ARGV[8])), audience)
  redis.call('ZADD', KEYS[4], sequence, id)
  trim(KEYS[4])
end
if send ~= '' then
  -- What lists it, for its retention to clear.
  local line = id
  for at = 9, #KEYS do
    if at <= 10 or at >= 18 then
      line = line .. '\t>' .. string.sub(KEYS[at], #T + 1)
    end
  end
  redis.call('SET', KEYS[8], ARGV[14] .. '\n' .. line .. '\n' .. ARGV[15])
  redis.call('ZADD', KEYS[9], ARGV[16], send)
  redis.call('ZADD', KEYS[10], ARGV[16], send)
  redis.call('ZREMRANGEBYRANK', KEYS[10], 0, -1001)
  for at = 18, #KEYS do
    redis.call('ZADD', KEYS[at], ARGV[16], send)
    redis.call('ZREMRANGEBYRANK', KEYS[at], 0, -100001)
  end
  redis.call('ZADD', KEYS[11], ARGV[17], send)
  push(q, ARGV[21], send, nil)
end
for _, old in ipairs(evicted) do
  unlist(old)
end
local trace = ARGV[#ARGV - 1]
if trace ~= '' then
  note_trace(T .. 'trc:' .. trace, {id, send ~= '' and send or nil}, tonumber(ARGV[#ARGV]), 1000)
end
if ARGV[9] ~= '' then
  local keep = tonumber(ARGV[12])
  local deadline = whole(now + keep)
  redis.call('SET', KEYS[6], deadline .. ' ' .. ARGV[10] .. ARGV[11], 'PX', whole(keep + HOUR))
  redis.call('ZADD', KEYS[7], deadline, ARGV[9])
end
return {'opened'}

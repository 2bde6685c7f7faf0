-- Takes lanes: leases that ran out first, then ready ones; what came due becomes ready before.
-- KEYS 1-6 the queue (1 unused), 7 the account's parking, 8 its pacing lane. ARGV 4 queue, 5 lease in
-- ms, 6-7 the account's rate ('' when there is none), 8 how many tokens follow of claims whose answer
-- never came, then those, then fresh tokens. Gives {leases, next due or '', wait until or '', 1 when
-- parked}, a lease being {token, lane, item, record, body, reaps, 1 when the recipient opted out}:
-- reaps above 0 says that a lease was taken over.
local q = queue(1, ARGV[4])
local deadline = now + tonumber(ARGV[5])
local lost_end = 8 + tonumber(ARGV[8])
local leases, tokens = {}, {}
local channel = string.match(q.name, '^out%.(.*)$')
local function lane_key(lane)
  return T .. 'q:' .. q.name .. ':lane:' .. lane
end
local function report(lane, token, reaps)
  local item = redis.call('LINDEX', lane_key(lane), 0)
  if not item then
    return false
  end
  local record, body = false, false
  if string.match(item, '^snd_%w+$') then
    record = redis.call('GET', T .. 'snd:' .. item)
    local _, line = pieces(record or '')
    if line then
      body = redis.call('GET', T .. 'ntf:' .. string.match(line, '^[^\t]*'))
    end
  end
  local out = channel and opt_letter(channel, lane) == 'a' and 1 or 0
  leases[#leases + 1] = {token, lane, item, record, body, reaps, out}
  return true
end
-- What tokens of lost answers hold: ours is reported again, the others' lanes are freed.
local function recover(mine, lost)
  local all = redis.call('HGETALL', q.own)
  for at = 1, #all, 2 do
    local lane = all[at]
    local token, reaps = owner(all[at + 1])
    if mine[token] then
      report(lane, token, reaps)
      mine[token] = false
    elseif lost[token] and reaps > 0 then
      redis.call('ZADD', q.lease, whole(now), lane)
    elseif lost[token] then
      release(q, lane)
      redis.call('LPUSH', q.rdy, whole(now) .. ' ' .. lane)
    end
  end
end
local mine, lost = {}, {}
for at = 9, lost_end do
  lost[ARGV[at]] = true
end
for at = lost_end + 1, #ARGV do
  mine[ARGV[at]] = again
end
if again or lost_end > 8 then
  recover(mine, lost)
end
if #leases == 0 then
  for at = lost_end + 1, #ARGV do
    tokens[#tokens + 1] = ARGV[at]
  end
end
-- A parked account gives nothing; one out of breath as much as may go within a second.
local interval, tolerance = tonumber(ARGV[6]), tonumber(ARGV[7])
local wait_until, is_parked = '', 0
if interval then
  local p = parking(KEYS[7])
  local most = p and 0 or room(KEYS[8], interval, tolerance, #tokens)
  if p then
    wait_until, is_parked = whole(p.till), 1
  elseif most == 0 and #tokens > 0 then
    wait_until = whole(next_at(KEYS[8]) or now)
  end
  if wait_until ~= '' then
    return {leases, '', wait_until, is_parked}
  end
  while #tokens > most do
    tokens[#tokens] = nil
  end
end
local used = 0
local function take(lane, reaps)
  if not report(lane, tokens[used + 1], reaps) then
    return false
  end
  used = used + 1
  redis.call('HSET', q.own, lane, tokens[used] .. ' ' .. reaps)
  redis.call('ZADD', q.lease, whole(deadline), lane)
  return true
end
local due = redis.call('ZRANGEBYSCORE', q.due, '-inf', whole(now), 'WITHSCORES', 'LIMIT', 0, 64)
for at = 1, #due, 2 do
  redis.call('ZREM', q.due, due[at])
  redis.call('RPUSH', q.rdy, whole(tonumber(due[at + 1])) .. ' ' .. due[at])
end
if #tokens > 0 then
  for _, lane in ipairs(
    redis.call('ZRANGEBYSCORE', q.lease, '-inf', whole(now), 'LIMIT', 0, #tokens)
  ) do
    local _, reaps = owner(redis.call('HGET', q.own, lane) or ' 0')
    if not take(lane, math.min(reaps + 1, 255)) then
      release(q, lane)
    end
  end
end
while used < #tokens do
  local entry = redis.call('LPOP', q.rdy)
  if not entry then
    break
  end
  local lane = string.match(entry, '^%-?%d+ (.*)$')
  -- A name that outlived its lane, or whose lane went elsewhere, is dropped.
  if redis.call('HEXISTS', q.own, lane) == 0 and not redis.call('ZSCORE', q.due, lane) then
    take(lane, 0)
  end
end
local next_due = ''
for _, key in ipairs({q.due, q.lease}) do
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  if first[2] and (next_due == '' or tonumber(first[2]) < next_due) then
    next_due = tonumber(first[2])
  end
end
return {leases, next_due == '' and '' or whole(next_due), wait_until, is_parked}

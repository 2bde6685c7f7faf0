-- A parked account: `<since> <until> <wait>\n<reason>`.
local function parking(key)
  local value = redis.call('GET', key)
  if not value then
    return nil
  end
  local since, till, wait, reason = string.match(value, '^(%d+) (%d+) (%d+)\n(.*)$')
  return {since = tonumber(since), till = tonumber(till), wait = tonumber(wait), reason = reason}
end
local function keep_parking(key, p)
  redis.call('SET', key, whole(p.since) .. ' ' .. whole(p.till) .. ' ' .. whole(p.wait) .. '\n' .. p.reason,
    'PX', whole(math.max(p.till - now, 0) + HOUR))
end
local function shown(p)
  return {whole(p.since), whole(p.till), whole(p.wait), p.reason}
end

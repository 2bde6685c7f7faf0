-- Visitors and transcripts. A token is a hash: `until`, and `v:<channel>` for each visitor it stands
-- for. A visitor's key holds its deadline. A transcript is a stream, opaque bytes in its field `f`.
-- An append takes KEYS from `k` on: visitor, transcript; ARGV from `a` on: frame id, frame, frames
-- kept, lifetime in ms, channel, visitor.
local function stands(key)
  local kept = redis.call('GET', key)
  return kept and tonumber(kept) > now
end
local function visitor_key(channel, visitor)
  return T .. 'web:vis:' .. channel .. ':' .. visitor
end
local function token_stands(key)
  local kept = redis.call('HGET', key, 'until')
  return kept and tonumber(kept) > now
end
local function prolong_token(key, deadline)
  local kept = tonumber(redis.call('HGET', key, 'until') or 0)
  if deadline > kept then
    redis.call('HSET', key, 'until', whole(deadline))
    redis.call('PEXPIRE', key, whole(deadline - now + HOUR))
  end
end
local function prolong_visitor(key, deadline)
  local kept = tonumber(redis.call('GET', key) or 0)
  if deadline > kept then
    redis.call('SET', key, whole(deadline), 'PX', whole(deadline - now + HOUR))
  end
end
local function numbers(id)
  local ms, n = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(n)
end
-- Why a frame cannot be appended: {'no_visitor'}, {'behind', newest}, or nothing.
local function hindrance(k, a)
  if not stands(KEYS[k]) then
    return {'no_visitor'}
  end
  local newest = redis.call('XREVRANGE', KEYS[k + 1], '+', '-', 'COUNT', 1)[1]
  if newest then
    local ms, n = numbers(newest[1])
    local own_ms, own_n = numbers(ARGV[a])
    if own_ms < ms or (own_ms == ms and own_n <= n) then
      return {'behind', newest[1]}
    end
  end
  return nil
end
local function append(k, a)
  redis.call('XADD', KEYS[k + 1], 'MAXLEN', '=', ARGV[a + 2], ARGV[a], 'f', ARGV[a + 1])
  redis.call('PEXPIRE', KEYS[k + 1], ARGV[a + 3])
  redis.call('PUBLISH', T .. 'evt', 'web:' .. ARGV[a + 4] .. ':' .. ARGV[a + 5])
end

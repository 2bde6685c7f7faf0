-- Lanes. A queue's six keys stand in KEYS from `first` on: lane, ready, due, lease, own, items.
local function queue(first, name)
  return {
    lane = KEYS[first], rdy = KEYS[first + 1], due = KEYS[first + 2],
    lease = KEYS[first + 3], own = KEYS[first + 4], items = KEYS[first + 5], name = name,
  }
end
-- An owner is `<token> <reaps>`.
local function owner(text)
  local token, reaps = string.match(text, '^(.*) (%d+)$')
  return token, tonumber(reaps)
end
local function holds(q, lane, token)
  local own = redis.call('HGET', q.own, lane)
  return own and owner(own) == token
end
-- A ready entry is `<since> <lane>`: it says how long the lane has waited.
-- A lane that is due within a second is announced too: who looks then knows when to look again.
local function place(q, lane, due)
  if due and due > now then
    redis.call('ZADD', q.due, whole(due), lane)
    if due - now <= 1000 then
      redis.call('PUBLISH', T .. 'wake', q.name)
    end
  else
    redis.call('RPUSH', q.rdy, whole(now) .. ' ' .. lane)
    redis.call('PUBLISH', T .. 'wake', q.name)
  end
end
local function push(q, lane, item, due)
  local depth = redis.call('RPUSH', q.lane, item)
  redis.call('INCR', q.items)
  if depth == 1 then
    place(q, lane, due)
  end
  return depth
end
local function release(q, lane)
  redis.call('ZREM', q.lease, lane)
  redis.call('HDEL', q.own, lane)
end
-- The next head of a channel waits for its recipient's pace.
local function place_next(q, lane)
  local channel = string.match(q.name, '^out%.(.*)$')
  place(q, lane, channel and next_at(T .. 'gcra:' .. channel .. ':r:' .. lane))
end
local function drop_head(q, lane)
  release(q, lane)
  if redis.call('LPOP', q.lane) then
    redis.call('DECR', q.items)
  end
  if redis.call('LLEN', q.lane) > 0 then
    place_next(q, lane)
  end
end
local function give_back(q, lane, due)
  release(q, lane)
  place(q, lane, due)
end

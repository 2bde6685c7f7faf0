-- Media. KEYS of whoever uses it: the ids by expiry, then the bytes held.
local PIECE = 524288
local function pieces_of(size)
  return math.ceil(size / PIECE)
end
local function drop_media(limit)
  local ids = redis.call('ZRANGEBYSCORE', T .. 'med_exp', '-inf', whole(now), 'LIMIT', 0, limit)
  for _, id in ipairs(ids) do
    local key = T .. 'med:' .. id
    local size = tonumber(redis.call('HGET', key, 'size') or 0)
    for piece = 0, pieces_of(size) - 1 do
      redis.call('DEL', key .. ':' .. piece)
    end
    redis.call('DEL', key)
    redis.call('ZREM', T .. 'med_exp', id)
    redis.call('DECRBY', T .. 'med_bytes', size)
  end
  return #ids
end

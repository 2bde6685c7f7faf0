-- Bodies and the lists that hold them. A stored body ends in the store's own bytes: the hash of the
-- audience (43 or none), the send's id (30 or none), `a` or `-`, `s` or `-`.
local function ending(id)
  local key = T .. 'ntf:' .. id
  local tail = redis.call('GETRANGE', key, -75, -1)
  local flags = string.sub(tail, -2)
  local send = string.sub(flags, 2) == 's' and string.sub(tail, -32, -3) or ''
  local behind = -3 - #send
  local audience = string.sub(flags, 1, 1) == 'a' and string.sub(tail, behind - 42, behind) or ''
  return key, audience, send
end
local function listed(id, audience)
  local member = audience == '' and id or id .. ':' .. audience
  return redis.call('ZSCORE', T .. 'inbox:all', member)
    or (audience ~= '' and redis.call('ZSCORE', T .. 'inbox:aud:' .. audience, id))
end
-- A body goes when no list holds it and no send; with a final send it outlives it by seven days.
local function unlist(id)
  local key, audience, send = ending(id)
  if listed(id, audience) then
    return
  end
  local left = -2
  if send ~= '' then
    left = redis.call('PTTL', T .. 'snd:' .. send)
  end
  if left == -2 then
    redis.call('DEL', key)
  elseif left >= 0 then
    redis.call('PEXPIRE', key, left + 7 * DAY)
  end
end

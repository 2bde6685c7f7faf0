-- Reads one body and where it stands. KEYS 1 body, 2 ring, 3 slices' expiries. ARGV 4 id.
-- Gives nothing, or {body, in the ring, in its slice}.
local body = redis.call('GET', KEYS[1])
if not body then
  return false
end
local id = ARGV[4]
local _, audience = ending(id)
local ring, slice = false, false
if audience == '' then
  ring = redis.call('ZSCORE', KEYS[2], id)
else
  ring = redis.call('ZSCORE', KEYS[2], id .. ':' .. audience)
  local expires = redis.call('ZSCORE', KEYS[3], audience)
  slice = expires and tonumber(expires) > now
    and redis.call('ZSCORE', T .. 'inbox:aud:' .. audience, id)
end
return {body, ring and 1 or 0, slice and 1 or 0}

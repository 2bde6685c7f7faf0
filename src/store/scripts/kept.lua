-- Reads a kept answer. KEYS 1 it. Gives nothing, or fingerprint and state in one.
local kept = redis.call('GET', KEYS[1])
local space = kept and string.find(kept, ' ', 1, true)
if not space or tonumber(string.sub(kept, 1, space - 1)) <= now then
  return false
end
return string.sub(kept, space + 1)

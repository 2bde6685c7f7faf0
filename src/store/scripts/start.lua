-- What the server is, and that this user may write, publish and expire under the tag.
-- KEYS 1 a key of no other use. Gives INFO's sections as text.
local denied = nil
local function need(name, ...)
  local result = redis.pcall(name, ...)
  if type(result) == 'table' and result.err then
    denied = denied or string.lower(name) .. ': ' .. result.err
    return ''
  end
  return result
end
need('SET', KEYS[1], '1', 'PX', 1000)
need('DEL', KEYS[1])
need('PUBLISH', T .. 'wake', '')
local info = ''
for _, section in ipairs({'server', 'memory', 'persistence'}) do
  info = info .. need('INFO', section)
end
if denied then
  return redis.error_reply('NOPERM ' .. denied)
end
return info

-- Opt-outs: `<letter><since>\n<opaque>` for each channel and lane, and an index by time.
local STRENGTH = {u = 1, m = 2, a = 3}
local function opt_key(channel, lane)
  return T .. 'opt:' .. channel .. ':' .. lane
end
local function opt_letter(channel, lane)
  local value = redis.call('GET', opt_key(channel, lane))
  return value and string.sub(value, 1, 1)
end
local function opt_set(channel, lane, letter, since, opaque)
  local known = opt_letter(channel, lane)
  if known and STRENGTH[known] >= STRENGTH[letter] then
    return 0
  end
  redis.call('SET', opt_key(channel, lane), letter .. since .. '\n' .. opaque)
  redis.call('ZADD', T .. 'opt_idx:' .. channel, since, lane)
  return 1
end
local function opt_clear(channel, lane, letters)
  local known = opt_letter(channel, lane)
  if not known or not string.find(letters, known, 1, true) then
    return false
  end
  local value = redis.call('GET', opt_key(channel, lane))
  redis.call('DEL', opt_key(channel, lane))
  redis.call('ZREM', T .. 'opt_idx:' .. channel, lane)
  return value
end
-- A change that goes along with a write: `+<letter><since> <channel> <lane>\n<opaque>`, or
-- `-<channel> <lane>` for a recipient who was reached.
local function opt_change(change)
  local letter, since, channel, lane, opaque =
    string.match(change, '^%+(%a)(%-?%d+) (%S+) (%S+)\n(.*)$')
  if letter then
    opt_set(channel, lane, letter, since, opaque)
    return
  end
  channel, lane = string.match(change, '^%-(%S+) (%S+)$')
  if channel then
    opt_clear(channel, lane, 'u')
  end
end

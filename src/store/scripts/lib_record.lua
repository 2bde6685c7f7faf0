-- Send records. A stored value is three pieces: the header line, a line of the store's own (the
-- notification's id, then a tab and `>` with the key of each index that lists it, and a tab and
-- `<channel>:<hash>` for each provider id), and opaque bytes.
-- KEYS from `k` on: record, log, exchanges, active, dead. ARGV from `a` on: id, rev, header, rest,
-- has log, log, has exchange, exchange, active, dead ('' leaves it, '-' removes, else a time; active
-- also `=<until>,<exchanges until>`: removed, and kept so long; behind dead, after a line break, a
-- change of opt-outs where there is one).
local EXCHANGES = 256 * 1024
local function pieces(stored)
  local first = string.find(stored, '\n', 1, true)
  local second = first and string.find(stored, '\n', first + 1, true)
  if not second then
    return nil
  end
  return string.sub(stored, 1, first - 1), string.sub(stored, first + 1, second - 1),
    string.sub(stored, second + 1)
end
-- Whether an earlier try of this very write got through.
local function written(k, a)
  local stored = again and redis.call('GET', KEYS[k])
  if not stored then
    return false
  end
  local header, _, rest = pieces(stored)
  return header == ARGV[a + 2] and rest == ARGV[a + 3]
end
local function follow(key, id, change)
  if change == '-' or string.sub(change, 1, 1) == '=' then
    redis.call('ZREM', key, id)
  elseif change ~= '' then
    redis.call('ZADD', key, change, id)
  end
end
-- Exchanges are one value: each behind its length in four bytes, oldest first.
local function append_exchange(key, exchange)
  local all = (redis.call('GET', key) or '') .. struct.pack('>I4', #exchange) .. exchange
  local count, bytes, at = 0, 0, 1
  while at <= #all do
    local size = struct.unpack('>I4', all, at)
    count, bytes, at = count + 1, bytes + size, at + 4 + size
  end
  at = 1
  while count > 1 and bytes > EXCHANGES do
    local size = struct.unpack('>I4', all, at)
    count, bytes, at = count - 1, bytes - size, at + 4 + size
  end
  redis.call('SET', key, string.sub(all, at), 'KEEPTTL')
end
local function write(k, a, provider)
  local stored = redis.call('GET', KEYS[k])
  if not stored then
    return {'gone'}
  end
  local header, line = pieces(stored)
  local rev = header and tonumber(string.match(header, '^(%d+)'))
  if not rev then
    return {'corrupt'}
  end
  if rev ~= tonumber(ARGV[a + 1]) then
    return {'conflict', stored}
  end
  if provider then
    line = line .. '\t' .. provider
  end
  local id = ARGV[a]
  redis.call('SET', KEYS[k], ARGV[a + 2] .. '\n' .. line .. '\n' .. ARGV[a + 3], 'KEEPTTL')
  if ARGV[a + 4] == '1' then
    redis.call('SET', KEYS[k + 1], (redis.call('GET', KEYS[k + 1]) or '') .. ARGV[a + 5], 'KEEPTTL')
  end
  if ARGV[a + 6] == '1' then
    append_exchange(KEYS[k + 2], ARGV[a + 7])
  end
  follow(KEYS[k + 3], id, ARGV[a + 8])
  local dead, opt = string.match(ARGV[a + 9], '^([^\n]*)\n?(.*)$')
  follow(KEYS[k + 4], id, dead)
  if opt ~= '' then
    opt_change(opt)
  end
  if tonumber(ARGV[a + 8]) then
    -- Active again: nothing of it may lapse.
    for at = 0, 2 do
      redis.call('PERSIST', KEYS[k + at])
    end
    redis.call('PERSIST', T .. 'ntf:' .. string.match(line, '^[^\t]*'))
    redis.call('ZREM', T .. 'snd_exp', id)
  end
  local keep, exchanges = string.match(ARGV[a + 8], '^=(%-?%d+),(%-?%d+)$')
  if keep then
    -- A sweep drops them; should none come, Redis does a week later.
    local left = math.max(tonumber(keep) - now, 0) + 7 * DAY
    redis.call('ZADD', T .. 'snd_exp', keep, id)
    redis.call('PEXPIRE', KEYS[k], whole(left))
    redis.call('PEXPIRE', KEYS[k + 1], whole(left))
    redis.call('PEXPIRE', KEYS[k + 2], whole(math.max(tonumber(exchanges) - now, 1)))
  end
  if string.sub(ARGV[a + 2], -2) == ' w' then
    redis.call('PUBLISH', T .. 'evt', 'snd:' .. id)
  end
  return {'done'}
end
-- Writes under a lease: nothing when it is lost.
local function write_held(k, a, q, lane, token)
  if not holds(q, lane, token) then
    return {written(k, a) and 'was' or 'lost'}
  end
  if written(k, a) then
    return {'was'}
  end
  return write(k, a, nil)
end

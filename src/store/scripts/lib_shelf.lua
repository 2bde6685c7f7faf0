-- Receipts that came early. A shelf is one value, each receipt behind its length in four bytes; all
-- are listed by deadline as `<channel>:<hash>`. A Redis lifetime is never shorter than the deadline.
local function shelf_until(key, expiries, name, deadline)
  redis.call('ZADD', expiries, whole(deadline), name)
  redis.call('PEXPIRE', key, whole(math.max(deadline - now, 0) + HOUR))
end
-- The part a provider id belongs to: its send and number.
local function known(key)
  return string.match(redis.call('GET', key) or '', '^(.*):(%d+)$')
end

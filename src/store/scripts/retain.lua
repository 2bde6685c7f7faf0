-- Sets how long what belongs to a final send is kept. KEYS 1 record, 2 log, 3 exchanges.
-- ARGV 4 ms. Gives nothing. A provider id stays a day longer, an unlisted body seven.
local _, line = pieces(redis.call('GET', KEYS[1]) or '')
if not line then
  return
end
local keep = tonumber(ARGV[4])
for at = 1, 3 do
  redis.call('PEXPIRE', KEYS[at], keep)
end
local notification = string.match(line, '^[^\t]*')
for provider in string.gmatch(line, '\t([^\t]+)') do
  redis.call('PEXPIRE', T .. 'pid:' .. provider, keep + DAY)
end
local key, audience = ending(notification)
if not listed(notification, audience) then
  redis.call('PEXPIRE', key, keep + 7 * DAY)
end

-- Takes a browser in. KEYS 1 the token it brought, 2 a fresh token. ARGV 4 '1' when it brought one,
-- 5 channel, 6 a fresh visitor, 7 deadline of a known session, 8 of a new one.
-- Gives {visitor, '1' when the fresh token is its own now}.
local token = nil
if ARGV[4] == '1' and token_stands(KEYS[1]) then
  token = KEYS[1]
end
local fresh = not token
local deadline = tonumber(fresh and ARGV[8] or ARGV[7])
token = token or KEYS[2]
local visitor = redis.call('HGET', token, 'v:' .. ARGV[5])
if not visitor or not stands(visitor_key(ARGV[5], visitor)) then
  visitor = ARGV[6]
  redis.call('HSET', token, 'v:' .. ARGV[5], visitor)
end
prolong_token(token, deadline)
prolong_visitor(visitor_key(ARGV[5], visitor), deadline)
return {visitor, fresh and '1' or '0'}

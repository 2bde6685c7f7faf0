-- The visitor a token stands for, kept until a deadline. KEYS 1 the token. ARGV 4 channel,
-- 5 deadline. Gives the visitor, or nothing.
if not token_stands(KEYS[1]) then
  return nil
end
local visitor = redis.call('HGET', KEYS[1], 'v:' .. ARGV[4])
if not visitor or not stands(visitor_key(ARGV[4], visitor)) then
  return nil
end
prolong_token(KEYS[1], tonumber(ARGV[5]))
prolong_visitor(visitor_key(ARGV[4], visitor), tonumber(ARGV[5]))
return visitor

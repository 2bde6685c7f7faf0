-- Keeps the final answer over its own first state, until the first deadline. KEYS 1 kept answer.
-- ARGV 4 fingerprint, 5 state. Gives nothing.
local kept = redis.call('GET', KEYS[1])
local space = kept and string.find(kept, ' ', 1, true)
if space and tonumber(string.sub(kept, 1, space - 1)) > now
  and string.sub(kept, space + 1, space + 32) == ARGV[4] then
  redis.call('SET', KEYS[1], string.sub(kept, 1, space) .. ARGV[4] .. ARGV[5], 'KEEPTTL')
end

-- Adds counts to an hour of a channel. KEYS 1 it. ARGV 4 ms it is kept from now, 5 backlog or '', then
-- names and counts in turn. A repeat after a lost answer may count twice: these are figures to look at.
for at = 6, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], 'backlog', ARGV[5])
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])

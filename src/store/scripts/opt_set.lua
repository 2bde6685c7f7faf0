-- Sets an opt-out unless one as strong stands. KEYS 1 the opt-out. ARGV 4 channel, 5 lane, 6 letter,
-- 7 since, 8 opaque. Gives 1 when it was set.
if again and redis.call('GET', KEYS[1]) == ARGV[6] .. ARGV[7] .. '\n' .. ARGV[8] then
  return 1
end
return opt_set(ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8])

-- Removes an opt-out. KEYS 1 the opt-out. ARGV 4 channel, 5 lane, 6 letters it may have. Gives its
-- value, or nothing when there is none of these.
return opt_clear(ARGV[4], ARGV[5], ARGV[6])

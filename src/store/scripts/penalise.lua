-- Holds a pacing lane back. KEYS 1 the lane. ARGV 4 until, 5-6 the rate. Gives 1.
local interval, tolerance = tonumber(ARGV[5]), tonumber(ARGV[6])
local penalty = tonumber(ARGV[4]) * 1000 + tolerance - math.min(interval, tolerance)
keep_idle(KEYS[1], math.max(idle_at(KEYS[1]) or 0, penalty), interval, tolerance)
return 1

-- Lifts a parking and announces the queue. KEYS 1 the parking. ARGV 4 queue. Gives
-- {since, until, wait, reason}, empty when there was none.
local p = parking(KEYS[1])
if not p then
  return {}
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', T .. 'wake', ARGV[4])
return shown(p)

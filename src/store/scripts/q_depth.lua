-- Counts. KEYS 1-6 the queue (1 unused). Gives {items, ready, delayed, leased, oldest ready or ''}.
local q = queue(1, '')
local come = redis.call('ZCOUNT', q.due, '-inf', whole(now))
local oldest = nil
local first = redis.call('LINDEX', q.rdy, 0)
if first then
  oldest = tonumber(string.match(first, '^%-?%d+'))
end
local due = redis.call('ZRANGE', q.due, 0, 0, 'WITHSCORES')
if come > 0 and (not oldest or tonumber(due[2]) < oldest) then
  oldest = tonumber(due[2])
end
return {
  tonumber(redis.call('GET', q.items) or 0), redis.call('LLEN', q.rdy) + come,
  redis.call('ZCARD', q.due) - come, redis.call('ZCARD', q.lease), oldest and whole(oldest) or '',
}

-- Where an item stands. KEYS 1-6 the queue. ARGV 4 queue, 5 lane, 6 item. Gives {how many are ahead of
-- it, the head, 1 when the lane is leased, when it is due or ''}, or {} when it is not there.
local q = queue(1, ARGV[4])
local place = redis.call('LPOS', q.lane, ARGV[6])
if not place then
  return {}
end
local due = redis.call('ZSCORE', q.due, ARGV[5])
return {
  place, redis.call('LINDEX', q.lane, 0), redis.call('HEXISTS', q.own, ARGV[5]),
  due and whole(tonumber(due)) or '',
}

-- Pacing. A lane's value is `<idle again at> <next request at>`, both in µs; it mirrors the pure
-- functions beside the traits. Rates are two numbers: interval and tolerance (burst × interval).
local MICROS = now * 1000
local function idle_at(key)
  local value = redis.call('GET', key)
  return value and tonumber(string.match(value, '^(%d+)'))
end
-- When a request of this cost may go, and when the lane is idle again if it goes now.
local function admit(key, interval, tolerance, cost)
  local from = math.max(idle_at(key) or 0, MICROS)
  local total = interval * cost
  return from + math.min(total, tolerance) - tolerance, from + total
end
local function keep_idle(key, idle, interval, tolerance)
  local next = idle + math.min(interval, tolerance) - tolerance
  -- A given time may stand still while the server's own goes on.
  local spare = ARGV[1] == '' and 1000 or HOUR
  local keep = math.max(math.ceil((idle - MICROS) / 1000), 0) + spare
  redis.call('SET', key, whole(idle) .. ' ' .. whole(next), 'PX', whole(keep))
end
local function millis_of(micros)
  return math.ceil(micros / 1000)
end
-- How many requests of cost 1 may go within a second.
local function room(key, interval, tolerance, most)
  local idle = idle_at(key)
  local ahead = MICROS + 1000000
  if interval == 0 then
    return (idle and idle > ahead) and 0 or most
  end
  local free = ahead + tolerance - math.max(idle or 0, MICROS)
  local least = math.min(interval, tolerance)
  if free < least then
    return 0
  end
  return math.min(most, 1 + math.floor((free - least) / interval))
end
-- When the lane lets the next request of cost 1 go; nil without a lane.
local function next_at(key)
  local value = redis.call('GET', key)
  local next = value and tonumber(string.match(value, ' (%d+)$'))
  return next and millis_of(next)
end

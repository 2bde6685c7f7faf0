-- In front of every script.
-- ARGV[1] the time in ms, '' for Redis's own; ARGV[2] '1' when an earlier try's answer was lost;
-- ARGV[3] the tag every key begins with. A script's own arguments begin at ARGV[4].
local again = ARGV[2] == '1'
local T = ARGV[3]
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number)
  return string.format('%.0f', number)
end
local HOUR, DAY = 3600000, 86400000

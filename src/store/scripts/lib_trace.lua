-- Traces. A value is lines: its deadline in ms, then ids in the order they were added.
local function trace_ids(key)
  local ids, stored = {}, redis.call('GET', key)
  local first = true
  for line in string.gmatch(stored or '', '[^\n]+') do
    if first and tonumber(line) <= now then
      break
    elseif not first then
      ids[#ids + 1] = line
    end
    first = false
  end
  return ids
end
local function note_trace(key, ids, keep, most)
  local known, there = trace_ids(key), {}
  for _, id in ipairs(known) do
    there[id] = true
  end
  for _, id in ipairs(ids) do
    if not there[id] and #known < most then
      known[#known + 1] = id
    end
  end
  redis.call('SET', key, whole(now + keep) .. '\n' .. table.concat(known, '\n'), 'PX', whole(keep + HOUR))
end

-- When lanes let the next request go. KEYS the lanes. Gives a time or '' for each: '' when now.
local result = {}
for at = 1, #KEYS do
  local next = next_at(KEYS[at])
  result[at] = (next and next > now) and whole(next) or ''
end
return result

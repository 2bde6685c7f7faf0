-- Writes under a lease and removes the head. Keys, arguments and result as `begin`.
local q = queue(6, ARGV[14])
local result = write_held(1, 4, q, ARGV[15], ARGV[16])
if result[1] == 'done' then
  drop_head(q, ARGV[15])
end
return result

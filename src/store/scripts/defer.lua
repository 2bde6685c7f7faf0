-- Writes under a lease and gives the lane back. As `begin`; ARGV 17 until.
local q = queue(6, ARGV[14])
local result = write_held(1, 4, q, ARGV[15], ARGV[16])
if result[1] == 'done' then
  give_back(q, ARGV[15], tonumber(ARGV[17]))
end
return result

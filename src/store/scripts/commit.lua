-- Compares and swaps a record. KEYS 1-5 and ARGV 4-13 as the record's library says. Gives {word} or
-- {'conflict', value}.
if written(1, 4) then
  return {'was'}
end
return write(1, 4, nil)

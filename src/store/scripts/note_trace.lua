-- Adds an id to a trace. KEYS 1 trace. ARGV 4 id, 5 ms it is kept from now, 6 ids at most.
note_trace(KEYS[1], {ARGV[4]}, tonumber(ARGV[5]), tonumber(ARGV[6]))

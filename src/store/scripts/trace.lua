-- Reads a trace. KEYS 1 it. Gives its ids in the order they were added.
return trace_ids(KEYS[1])

-- The parking of an account. KEYS 1 the parking. Gives {since, until, wait, reason} or {}.
local p = parking(KEYS[1])
return p and shown(p) or {}

-- Which server this is: it changes with a restart and with another master. KEYS 1 a key of no other
-- use, never touched: it names the slot.
-- Without the right to ask it is '': the start's own check names the right that is missing.
local info = redis.pcall('INFO', 'server')
return type(info) == 'string' and string.match(info, 'run_id:(%x+)') or ''

-- Which server this is: it changes with a restart and with another master. KEYS 1 a key of no other
-- use, never touched: it names the slot.
return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''

-- What the server says about itself. KEYS 1 a key of no other use, never touched: it names the slot.
-- Gives INFO's sections as text.
return redis.call('INFO', 'memory') .. redis.call('INFO', 'persistence')

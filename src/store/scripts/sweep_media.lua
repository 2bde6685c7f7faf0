-- Removes media past their expiry. KEYS 1 ids by expiry, 2 bytes held. ARGV 4 how many at most.
-- Gives how many.
return drop_media(ARGV[4])

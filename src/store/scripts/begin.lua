-- Writes under a lease. KEYS 1-5 the record, 6-11 the queue. ARGV 4-13 the write, 14 queue, 15 lane,
-- 16 token. Gives as `commit`, or {'lost'}.
return write_held(1, 4, queue(6, ARGV[14]), ARGV[15], ARGV[16])

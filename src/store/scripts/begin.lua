-- Writes under a lease when pacing lets the request go. KEYS 1-5 the record, 6-11 the queue, 12 the
-- account's lane, 13 the recipient's. ARGV 4-13 the write, 14 queue, 15 lane, 16 token, 17 cost or ''
-- when nothing is paced, 18-19 the account's rate, 20-21 the recipient's. Gives as `commit`,
-- {'lost'}, or {'wait', until, 'account' or 'recipient'}.
local q = queue(6, ARGV[14])
if not holds(q, ARGV[15], ARGV[16]) then
  return {written(1, 4) and 'was' or 'lost'}
end
if written(1, 4) then
  return {'was'}
end
local cost = tonumber(ARGV[17])
if not cost then
  return write(1, 4, nil)
end
local ai, at, ri, rt = tonumber(ARGV[18]), tonumber(ARGV[19]), tonumber(ARGV[20]), tonumber(ARGV[21])
local account, account_idle = admit(KEYS[12], ai, at, cost)
local recipient, recipient_idle = admit(KEYS[13], ri, rt, cost)
if math.max(account, recipient) > MICROS then
  account, recipient = millis_of(account), millis_of(recipient)
  local scope = account > recipient and 'account' or 'recipient'
  return {'wait', whole(math.max(account, recipient)), scope}
end
local result = write(1, 4, nil)
if result[1] == 'done' then
  if ai > 0 then
    keep_idle(KEYS[12], account_idle, ai, at)
  end
  if ri > 0 then
    keep_idle(KEYS[13], recipient_idle, ri, rt)
  end
end
return result

/**
 * The scripts of the store. Redis runs each one atomically. A script checks everything before its first write, because Redis does not roll
 * back. If memory is full, the server refuses the first write.
 */

/** Formats numbers as integers, because Lua would write large ones with an exponent. */
const helpers = `
local function whole(number) return string.format('%.0f', number) end
local function now()
  local time = redis.call('TIME')
  return whole(time[1] * 1000 + math.floor(time[2] / 1000))
end
local function held() return redis.call('HGET', KEYS[1], 'epoch') == ARGV[1] end
local function written(key) return redis.call('HEXISTS', key, 'createdAt') == 1 end
`

/**
 * Starts the next epoch. Keys: session, epochs. Arguments: agent id.
 *
 * Uses the time as a lower limit, so that no epoch repeats even if the server loses its newest data, as in a failover.
 */
export const claimScript = `${helpers}
local last = tonumber(redis.call('GET', KEYS[2])) or 0
local epoch = whole(math.max(last + 1, tonumber(now())))
redis.call('HSET', KEYS[1], 'epoch', epoch, 'claimant', ARGV[1])
redis.call('SET', KEYS[2], epoch)
return epoch`

/**
 * Appends lines if the epoch is the newest. Keys: session, records, one list per status, the other lists. Arguments: epoch, session id,
 * digest, status, statuses of the lists as JSON, then id and text of each line. Returns whether the epoch is the newest.
 */
export const appendScript = `${helpers}
if not held() then return 0 end
local last = ARGV[#ARGV - 1]
-- A client may send a command again after it reconnects.
if redis.call('HGET', KEYS[1], 'last') == last then return 1 end
for at = 6, #ARGV, 2 do redis.call('XADD', KEYS[2], ARGV[at], 'line', ARGV[at + 1]) end
local time = now()
redis.call('HSETNX', KEYS[1], 'createdAt', time)
redis.call('HSET', KEYS[1], 'agentId', redis.call('HGET', KEYS[1], 'claimant'), 'last', last)
if ARGV[3] ~= '' then redis.call('HSET', KEYS[1], 'digest', ARGV[3]) end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'status', ARGV[4]) end
local status = redis.call('HGET', KEYS[1], 'status')
local statuses = cjson.decode(ARGV[5])
for at = 3, #KEYS do
  local listed = statuses[at - 2]
  if listed == nil or listed == status then redis.call('ZADD', KEYS[at], time, ARGV[2])
  else redis.call('ZREM', KEYS[at], ARGV[2]) end
end
return 1`

/**
 * Returns the next lines after a stream position, whose seq is greater than a cursor. Keys: session, records. Arguments: cursor, start and
 * end of the range, maximum lines, maximum bytes. Returns the start of the next range or an empty text, then the lines. Returns nothing for
 * an unknown session.
 */
export const readScript = `${helpers}
if not written(KEYS[1]) then return false end
local after, from = tonumber(ARGV[1]), ARGV[2]
local found, bytes, count = {''}, 0, 1
for _ = 1, 2000 do
  local entries = redis.call('XRANGE', KEYS[2], from, ARGV[3], 'COUNT', count)
  if #entries == 0 then return found end
  count = 20
  for _, entry in ipairs(entries) do
    local epoch, seq = string.match(entry[1], '^(%d+)-(%d+)$')
    if tonumber(seq) <= after then
      -- Continues in the same epoch after the cursor. One line, because the next epoch may have to be skipped too.
      from, count = epoch .. '-' .. whole(after + 1), 1
      break
    end
    from = '(' .. entry[1]
    table.insert(found, entry[2][2])
    bytes = bytes + #entry[2][2]
    if #found > tonumber(ARGV[4]) or bytes >= tonumber(ARGV[5]) then
      found[1] = from
      return found
    end
  end
end
found[1] = from
return found`

/** Deletes lines and media of older epochs if the epoch is the newest. Keys: session, records, media. Arguments: epoch. */
export const discardScript = `${helpers}
if not held() then return 0 end
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[1] .. '-0')
for _, field in ipairs(redis.call('HKEYS', KEYS[3])) do
  if tonumber(string.match(field, '%d+$')) < tonumber(ARGV[1]) then redis.call('HDEL', KEYS[3], field) end
end
return 1`

/** Removes an unwritten session if the epoch is the newest. Keys: session, media. Arguments: epoch. */
export const releaseScript = `${helpers}
if held() and not written(KEYS[1]) then redis.call('UNLINK', KEYS[1], KEYS[2]) end
return 1`

/** Deletes a session. Keys: session, records, media, the lists. Arguments: session id. Returns whether it had records. */
export const deleteScript = `${helpers}
local existed = written(KEYS[1])
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
for at = 4, #KEYS do redis.call('ZREM', KEYS[at], ARGV[1]) end
return existed and 1 or 0`

/**
 * Returns sessions of a list, most recently active first. Keys: the list. Arguments: prefix of session keys, time and id of the session
 * before the first, maximum sessions, then agent id, status and id prefix to filter by. Returns time and id of the last examined session if
 * more may follow, then id, agent id, times and digest of each session. The session keys are in the hash slot of the list.
 */
export const listScript = `${helpers}
local prefix, time, id, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local agentId, status, idPrefix = ARGV[5], ARGV[6], ARGV[7]
local rank = 0
if time ~= '' then
  if redis.call('ZSCORE', KEYS[1], id) == time then rank = redis.call('ZREVRANK', KEYS[1], id) + 1
  else rank = redis.call('ZCOUNT', KEYS[1], '(' .. time, '+inf') end
end
local found, last = {{}}, {}
for _ = 1, 10 do
  local entries = redis.call('ZREVRANGE', KEYS[1], rank, rank + 99, 'WITHSCORES')
  if #entries == 0 then return found end
  for at = 1, #entries, 2 do
    local sessionId = entries[at]
    last = {entries[at + 1], sessionId}
    local session = redis.call('HMGET', prefix .. sessionId, 'agentId', 'createdAt', 'status', 'digest')
    local isAsked = session[2] and string.sub(sessionId, 1, #idPrefix) == idPrefix
      and (agentId == '' or session[1] == agentId) and (status == '' or session[3] == status)
    if isAsked then table.insert(found, {sessionId, session[1], session[2], entries[at + 1], session[4] or ''}) end
    if #found > limit then return found end
  end
  rank = rank + 100
end
found[1] = last
return found`

/** Stores media if the epoch is the newest. Keys: session, media. Arguments: epoch, hash, base64. Returns whether it is. */
export const putScript = `${helpers}
if not held() then return 0 end
redis.call('HSET', KEYS[2], ARGV[2] .. ':' .. ARGV[1], ARGV[3])
return 1`

/** Returns the newest media for a hash as base64, or nothing. Keys: media. Arguments: hash. */
export const getScript = `
local newest, epoch = false, -1
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local hash, stored = string.match(field, '^(%x+):(%d+)$')
  if hash == ARGV[1] and tonumber(stored) > epoch then newest, epoch = field, tonumber(stored) end
end
return newest and redis.call('HGET', KEYS[1], newest)`

/** Deletes media of older epochs except these hashes, if the epoch is the newest. Keys: session, media. Arguments: epoch, hashes. */
export const keepScript = `${helpers}
if not held() then return 0 end
local kept = {}
for at = 2, #ARGV do kept[ARGV[at]] = true end
for _, field in ipairs(redis.call('HKEYS', KEYS[2])) do
  local hash, stored = string.match(field, '^(%x+):(%d+)$')
  if not kept[hash] and tonumber(stored) < tonumber(ARGV[1]) then redis.call('HDEL', KEYS[2], field) end
end
return 1`

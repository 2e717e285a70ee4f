import { bytesOfBase64, toBase64 } from '../../src/base/base64.ts'
import { ownerChars, summaryOfRow } from '../../src/internal.ts'
import {
  type BlobDriver,
  type LogClaim,
  type LogDriver,
  type LogQuery,
  SessionError,
  type SessionSummary,
  type StorePromises,
} from '../../src/session.ts'
import { asked, listOfReply, type RedisConnection, textOfReply } from './redis-connection.ts'
import {
  appendScript,
  claimScript,
  deleteScript,
  discardScript,
  getScript,
  keepScript,
  listScript,
  putScript,
  readScript,
  releaseScript,
} from './scripts.ts'

/** Maximum lines and bytes of a batch, so that a long log is never in memory as a whole, and no script runs for long. */
const batchLines = 500
const batchBytes = 1024 * 1024

/** Statuses that have their own list, because programs look for these sessions at startup. */
const openStatuses = ['running', 'waiting'] as const

/** A connection, and the prefix for all keys. */
export interface RedisPlace {
  connection: RedisConnection
  /** Starts with a hash tag, so that all keys are in one slot of a cluster and one script can change them. */
  prefix: string
  survives: StorePromises['survives']
}

/**
 * Stores one tenant's logs in Redis. Each change is one script.
 *
 * A claim takes the next epoch and stores it in its session's hash. An append looks for its epoch there. A session's lines are a stream,
 * whose ids consist of epoch and `seq`.
 */
export function redisLogDriver({ connection, prefix, survives }: RedisPlace): LogDriver {
  const keys = keysIn(prefix)
  const of = (sessionId: string) => `Session ${sessionId}`
  const run = (sessionId: string, script: string, names: readonly string[], args: readonly string[]) =>
    asked(of(sessionId), () => connection.run(script, names, args))

  /** Changes a session if `claim` is its newest. Rejects with `conflict` otherwise. */
  async function whileHeld(
    { sessionId, epoch }: LogClaim,
    script: string,
    names: readonly string[],
    more: readonly string[],
  ): Promise<void> {
    if (Number(await run(sessionId, script, names, [String(epoch), ...more])) === 1) return
    throw new SessionError('conflict', `Another writer took over session ${sessionId}, or the session was deleted. Open it again to write.`)
  }

  /**
   * Returns the lines after a cursor in batches, or `undefined` for an unknown session. With `before`, returns only lines from older
   * epochs.
   */
  async function linesOf(sessionId: string, after: number, before?: number): Promise<AsyncGenerator<string[], void> | undefined> {
    const end = before === undefined ? '+' : `(${before}-0`
    const next = (from: string) =>
      run(
        sessionId,
        readScript,
        [keys.session(sessionId), keys.records(sessionId)],
        [...[String(after), from, end], ...[String(batchLines), String(batchBytes)]],
      )
    const first = await next('-')
    return Array.isArray(first) ? batchesFrom(first, next) : undefined
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives },
    claim: async (sessionId, agentId) => {
      const epoch = Number(await run(sessionId, claimScript, [keys.session(sessionId), keys.epochs], [agentId]))
      const batches = await linesOf(sessionId, 0, epoch)
      const first = await batches?.next()
      return { sessionId, epoch, lines: first?.value ?? [], ...(batches !== undefined && { more: batches }) }
    },
    append: (claim, lines, digest) => {
      const { sessionId } = claim
      const lists = [...openStatuses.map(keys.status), ...keys.lists(sessionId)]
      const entry = digest === undefined ? ['', ''] : [JSON.stringify(digest), digest.status ?? '']
      const args = [sessionId, ...entry, JSON.stringify(openStatuses)]
      for (const { epoch, seq, text } of lines) args.push(`${epoch}-${seq}`, text)
      return whileHeld(claim, appendScript, [keys.session(sessionId), keys.records(sessionId), ...lists], args)
    },
    discardOlder: async ({ sessionId, epoch }) => {
      const names = [keys.session(sessionId), keys.records(sessionId), keys.media(sessionId)]
      await run(sessionId, discardScript, names, [String(epoch)])
    },
    release: async ({ sessionId, epoch }) => {
      await run(sessionId, releaseScript, [keys.session(sessionId), keys.media(sessionId)], [String(epoch)])
    },
    read: async (sessionId, after) => {
      const batches = await linesOf(sessionId, after)
      if (batches === undefined) return undefined
      const lines: string[] = []
      for await (const batch of batches) for (const line of batch) lines.push(line)
      return lines
    },
    stream: (sessionId, after) => linesOf(sessionId, after),
    lastSeq: async (sessionId) => {
      const last = await asked(of(sessionId), () => connection.send('HGET', [keys.session(sessionId), 'last']))
      const [, seq] = textOfReply(last).split('-')
      return seq === undefined ? undefined : Number(seq)
    },
    list: (query) => asked('The list of sessions', () => sessionsOf(connection, keys, query)),
    delete: async (sessionId) => {
      const own = [keys.session(sessionId), keys.records(sessionId), keys.media(sessionId)]
      const names = [...own, ...openStatuses.map(keys.status), ...keys.lists(sessionId)]
      return Number(await run(sessionId, deleteScript, names, [sessionId])) === 1
    },
    blobs: blobsOf(keys, run, whileHeld),
  }
}

type Keys = ReturnType<typeof keysIn>

/** Returns the names of all keys. */
function keysIn(prefix: string) {
  const sessionPrefix = `${prefix}:session:`
  const ownerList = (idStart: string) => `${prefix}:owner:${idStart.slice(0, ownerChars)}`
  return {
    epochs: `${prefix}:epochs`,
    sessions: `${prefix}:sessions`,
    sessionPrefix,
    session: (sessionId: string) => `${sessionPrefix}${sessionId}`,
    records: (sessionId: string) => `${prefix}:records:${sessionId}`,
    media: (sessionId: string) => `${prefix}:media:${sessionId}`,
    status: (status: string) => `${prefix}:status:${status}`,
    /** Lists that contain this session whatever its status: all sessions, and its owner's sessions. */
    lists: (sessionId: string) => [`${prefix}:sessions`, ...(sessionId.length < ownerChars ? [] : [ownerList(sessionId)])],
    /** The shortest list that contains all sessions that a query can match. */
    listFor: ({ status, idPrefix = '' }: LogQuery) => {
      if (openStatuses.some((open) => open === status)) return `${prefix}:status:${status}`
      return idPrefix.length < ownerChars ? `${prefix}:sessions` : ownerList(idPrefix)
    },
  }
}

/** Yields this batch, then those after it. */
async function* batchesFrom(first: unknown[], next: (from: string) => Promise<unknown>): AsyncGenerator<string[], void> {
  for (let reply = first; ; ) {
    const [from, ...lines] = reply.map(textOfReply)
    yield lines
    if (from === undefined || from === '') return
    reply = listOfReply(await next(from))
  }
}

/**
 * Returns the sessions that match a query, most recently active first. Each script examines some, so that none blocks the server for long.
 */
async function sessionsOf(connection: RedisConnection, keys: Keys, query: LogQuery = {}): Promise<SessionSummary[]> {
  const { agentId = '', status = '', idPrefix = '', limit = Number.MAX_SAFE_INTEGER, after } = query
  const found: SessionSummary[] = []
  for (let last = after === undefined ? ['', ''] : [String(after.lastActiveAt), after.sessionId]; last.length > 0; ) {
    const page = [...last, String(limit - found.length), agentId, status, idPrefix]
    const reply = await connection.run(listScript, [keys.listFor(query)], [keys.sessionPrefix, ...page])
    const [next, ...rows] = listOfReply(reply).map((row) => listOfReply(row).map(textOfReply))
    for (const [session_id, agent_id, created_at, last_active_at, digest] of rows)
      found.push(summaryOfRow({ session_id, agent_id, created_at, last_active_at, ...(digest !== '' && { digest }) }))
    last = next ?? []
  }
  return found
}

function blobsOf(
  keys: Keys,
  run: (sessionId: string, script: string, names: readonly string[], args: readonly string[]) => Promise<unknown>,
  whileHeld: (claim: LogClaim, script: string, names: readonly string[], more: readonly string[]) => Promise<void>,
): BlobDriver {
  const names = (sessionId: string) => [keys.session(sessionId), keys.media(sessionId)]
  return {
    put: (claim, hash, bytes) => whileHeld(claim, putScript, names(claim.sessionId), [hash, toBase64(bytes)]),
    get: async (sessionId, hash) => {
      const data = textOfReply(await run(sessionId, getScript, [keys.media(sessionId)], [hash]))
      return data === '' ? undefined : bytesOfBase64(data)
    },
    keep: async ({ sessionId, epoch }, hashes) => {
      await run(sessionId, keepScript, names(sessionId), [String(epoch), ...hashes])
    },
  }
}

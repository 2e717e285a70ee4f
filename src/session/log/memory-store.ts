import { SessionError } from '../../contract/errors.ts'
import type { SessionStatus } from '../../contract/session/session.ts'
import type { LogClaim, LogDriver, LogLine, SessionDigest, SessionStore, SessionSummary } from '../../types/session/session-store.ts'
import { emptyDigest } from './digest.ts'
import { logSessionStore } from './log-session-store.ts'

/** The log of one session. */
interface MemoryLog {
  /** Epoch of the newest writer. */
  epoch: number
  /** Agent that claimed the log last. */
  claimant: string
  /** Agent that wrote last. */
  agentId: string
  createdAt: number
  lastActiveAt: number
  digest: SessionDigest
  lines: LogLine[]
  /** Blobs by hash, with the epoch that stored them. */
  blobs: Map<string, { bytes: Uint8Array<ArrayBuffer>; epoch: number }>
}

const unwritten = { createdAt: 0, lastActiveAt: 0, digest: emptyDigest }

/** Creates an in-memory `SessionStore`, whose data lives as long as the object. Copies all input and output. */
export function memorySessionStore(): SessionStore {
  return logSessionStore(memoryDriver())
}

/** Creates an in-memory `LogDriver`. As with other drivers, a new writer fences off older ones. */
export function memoryDriver(): LogDriver {
  const logs = new Map<string, MemoryLog>()
  // Shared by all sessions, so that a deleted session's writer does not match the first epoch of a new session with the same id.
  let epochs = 0
  /** Running, interrupted and pending sessions, newest last, so that queries by status need not scan all sessions. */
  const open = new Map<string, MemoryLog>()
  const written = (log: MemoryLog | undefined): log is MemoryLog => log !== undefined && log.lines.length > 0

  /** Returns the log if `claim` is its newest claim. */
  function claimed({ sessionId, epoch }: LogClaim): MemoryLog | undefined {
    const log = logs.get(sessionId)
    return log?.epoch === epoch ? log : undefined
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'nothing' },
    claim: async (sessionId, agentId) => {
      epochs++
      const log = logs.get(sessionId) ?? { ...unwritten, lines: [], blobs: new Map(), agentId, claimant: agentId, epoch: epochs }
      log.epoch = epochs
      log.claimant = agentId
      logs.set(sessionId, log)
      return { sessionId, epoch: epochs, lines: log.lines.map((line) => line.text) }
    },
    append: async (claim, lines, digest) => {
      const log = claimed(claim)
      if (log === undefined) throw takenOver(claim.sessionId)
      log.lastActiveAt = Date.now()
      log.agentId = log.claimant
      if (digest !== undefined) log.digest = digest
      if (log.lines.length === 0) log.createdAt = log.lastActiveAt
      for (const line of lines) log.lines.push(line)
      // Delete and reinsert the entry: a map keeps insertion order, so the entry is the newest even within one millisecond.
      logs.delete(claim.sessionId)
      logs.set(claim.sessionId, log)
      open.delete(claim.sessionId)
      if (isOpen(log.digest.status)) open.set(claim.sessionId, log)
    },
    discardOlder: async (claim) => {
      const log = claimed(claim)
      if (log === undefined) return
      log.lines = log.lines.filter((line) => line.epoch >= claim.epoch)
      for (const [hash, { epoch }] of log.blobs) if (epoch < claim.epoch) log.blobs.delete(hash)
    },
    release: async (claim) => {
      if (claimed(claim)?.lines.length === 0) logs.delete(claim.sessionId)
    },
    read: async (sessionId, after) => {
      const log = logs.get(sessionId)
      return written(log) ? log.lines.filter((line) => line.seq > after).map((line) => line.text) : undefined
    },
    lastSeq: async (sessionId) => logs.get(sessionId)?.lines.at(-1)?.seq,
    list: async ({ status } = {}) =>
      [...(isOpen(status) ? open : logs)]
        .filter(([, log]) => written(log))
        .map(summaryOf)
        .reverse(),
    delete: async (sessionId) => {
      const existed = written(logs.get(sessionId))
      logs.delete(sessionId)
      open.delete(sessionId)
      return existed
    },
    blobs: {
      put: async (claim, hash, bytes) => {
        const log = claimed(claim)
        if (log === undefined) throw takenOver(claim.sessionId)
        log.blobs.set(hash, { bytes, epoch: claim.epoch })
      },
      get: async (sessionId, hash) => logs.get(sessionId)?.blobs.get(hash)?.bytes.slice(),
      keep: async (claim, hashes) => {
        const blobs = claimed(claim)?.blobs
        for (const [hash, { epoch }] of blobs ?? []) if (epoch < claim.epoch && !hashes.has(hash)) blobs?.delete(hash)
      },
    },
  }
}

function isOpen(status: SessionStatus | undefined): boolean {
  return status === 'running' || status === 'waiting'
}

function summaryOf([sessionId, { digest, agentId, createdAt, lastActiveAt }]: [string, MemoryLog]): SessionSummary {
  return { ...digest, sessionId, agentId, createdAt, lastActiveAt }
}

function takenOver(sessionId: string): SessionError {
  return new SessionError(
    'conflict',
    `Another writer took over session ${sessionId}, or the session was deleted. Use resumeAgent to continue it.`,
  )
}

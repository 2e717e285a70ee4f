import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { aText, options as optionsOf, required, withMethods } from '../../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { type LogClaim, type LogDriver, type LogLine, logSessionStore, SessionError } from '../../../../src/session.ts'
import type { ObjectNamespace, ObjectStorage } from '../workers-platform.ts'
import { SessionIndex } from './index-object.ts'
import { callObject, callWithBytes, storageError } from './object-call.ts'
import { defaultTenant, objectName } from './session-address.ts'
import type { SqliteClaim, SqliteLog } from './sqlite-log.ts'

/** One session's log, in any object. */
interface LogAccess {
  claim(onProgress?: () => void): Promise<SqliteClaim>
  append(claim: SqliteClaim, lines: readonly LogLine[]): Promise<void>
  discardOlder(claim: SqliteClaim): Promise<void>
  release(claim: SqliteClaim): Promise<void>
  read(after: number, onProgress?: () => void): Promise<readonly string[] | undefined>
  /** Available only within the object, because a remote call would be billed. */
  lastSeq?(): Promise<number | undefined>
  delete(): Promise<boolean>
  putBlob(claim: SqliteClaim, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<unknown>
  getBlob(hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  keepBlobs(claim: SqliteClaim, hashes: readonly string[]): Promise<void>
}

/** Driver data for a claim. */
interface Writing {
  log: LogAccess
  claim: SqliteClaim
  agentId: string
  isListed: boolean
}

/** Stores sessions in one object each, and lists them in `index`. */
export function objectLogDriver(logOf: (sessionId: string) => LogAccess, index: SessionIndex | undefined): LogDriver {
  const writings = new WeakMap<LogClaim, Writing>()
  const writingOf = (claim: LogClaim): Writing => {
    const writing = writings.get(claim)
    if (writing === undefined)
      throw new SessionError('conflict', `The claim on session ${claim.sessionId} is from another store. Open the session in this store.`)
    return writing
  }
  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },
    claim: async (sessionId, agentId, onProgress) => {
      const log = logOf(sessionId)
      const claim = await log.claim(onProgress)
      const given: LogClaim = { sessionId, epoch: claim.epoch, lines: claim.lines }
      writings.set(given, { log, claim: { ...claim, lines: [] }, agentId, isListed: false })
      return given
    },
    append: async (claim, lines, digest) => {
      const writing = writingOf(claim)
      // The records are authoritative. If the index misses these records, the next ones update it.
      const updated = writing.isListed ? index?.update(claim.sessionId, digest).catch(() => undefined) : undefined
      await writing.log.append(writing.claim, lines)
      await updated
      if (writing.isListed) return
      // Added only now, because a list would otherwise contain an unreadable session.
      await index?.enter(claim.sessionId, writing.agentId, digest)
      writing.isListed = true
    },
    discardOlder: (claim) => {
      const { log, claim: right } = writingOf(claim)
      return log.discardOlder(right)
    },
    release: async (claim) => {
      const writing = writings.get(claim)
      writings.delete(claim)
      // A failure is harmless, because the next writer claims the log anyway.
      await writing?.log.release(writing.claim).catch(() => undefined)
    },
    read: (sessionId, after, onProgress) => logOf(sessionId).read(after, onProgress),
    lastSeq: async (sessionId) => logOf(sessionId).lastSeq?.(),
    list: async (query) => (await index?.list(query)) ?? [],
    delete: async (sessionId) => {
      const existed = await logOf(sessionId).delete()
      // Deleted last, so that the session is still listed after a failed deletion and can be deleted again.
      const wasListed = (await index?.remove(sessionId)) ?? false
      return existed || wasListed
    },
    blobs: {
      put: async (claim, hash, bytes) => {
        const { log, claim: right } = writingOf(claim)
        await log.putBlob(right, hash, bytes)
      },
      get: (sessionId, hash) => logOf(sessionId).getBlob(hash),
      keep: async (claim, hashes) => {
        const { log, claim: right } = writingOf(claim)
        if (right.hasBlobs) await log.keepBlobs(right, [...hashes])
      },
    },
  }
}

/** Returns the log in the object `name`, accessed from outside. */
function remoteLog(namespace: ObjectNamespace, name: string): LogAccess {
  const right = ({ epoch, writer }: SqliteClaim) => ({ epoch, writer })
  return {
    claim: (onProgress) => callObject(namespace, name, 'claim', {}, onProgress),
    append: (claim, lines) => callObject(namespace, name, 'append', { ...right(claim), lines }),
    discardOlder: (claim) => callObject(namespace, name, 'discardOlder', right(claim)),
    release: (claim) => callObject(namespace, name, 'release', right(claim)),
    read: async (after, onProgress) => (await callObject<string[] | null>(namespace, name, 'read', { after }, onProgress)) ?? undefined,
    delete: () => callObject(namespace, name, 'delete'),
    putBlob: (claim, hash, bytes) => callWithBytes(namespace, name, 'putBlob', { ...right(claim), hash }, bytes),
    getBlob: (hash) => callWithBytes(namespace, name, 'getBlob', { hash }),
    keepBlobs: (claim, hashes) => callObject(namespace, name, 'keepBlobs', { ...right(claim), hashes }),
  }
}

/** Returns the log in this object. */
export function localLog(log: SqliteLog, storage: ObjectStorage, deleteSession: () => Promise<boolean>): LogAccess {
  const durably = async <Value>(action: () => Value): Promise<Value> => {
    try {
      const value = action()
      await storage.sync()
      return value
    } catch (error) {
      throw storageError(error)
    }
  }
  return {
    claim: () => durably(() => log.claim('live')),
    append: (claim, lines) => durably(() => log.append(claim, lines)),
    discardOlder: (claim) => durably(() => log.discardOlder(claim)),
    release: (claim) => durably(() => log.release(claim)),
    read: (after) => durably(() => log.read(after)),
    lastSeq: () => durably(() => log.lastSeq()),
    delete: deleteSession,
    putBlob: (claim, hash, bytes) => durably(() => log.putBlob(claim, hash, bytes)),
    getBlob: (hash) => durably(() => log.getBlob(hash)),
    keepBlobs: (claim, hashes) => durably(() => log.keepBlobs(claim, hashes)),
  }
}

/** Bindings for the session store. */
export interface SessionBindings {
  /** Binding of `SessionObject`, or of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  /** Binding of `IndexObject`. */
  index: ObjectNamespace
  /**
   * Owner of the sessions. Tenants cannot see each other's sessions, and session ids only need to be unique per tenant. Derive it from the
   * authenticated user. Default: `default`.
   */
  tenant?: string
}

const aBinding = required(withMethods('a binding of Durable Objects', 'getByName'))
const bindingOptions = optionsOf<SessionBindings>({ sessions: aBinding, index: aBinding, tenant: aText })

/**
 * Creates a session store in Durable Objects for a Worker with these bindings: one object per session, and one index object per tenant.
 *
 * **Contract**
 * - Strongly consistent: an acknowledged record is durable and visible to every reader. Of two writers, the older one is rejected.
 * - An append takes one request to the session's object and one to the index. The only limit for a record is the object's memory.
 *
 * Source: docs/concepts/sessions.md
 */
export function durableObjectSessionStore(bindings: SessionBindings): SessionStore {
  checkOptions(bindings, bindingOptions)
  const { sessions, index, tenant = defaultTenant } = bindings
  const logOf = (sessionId: string) => remoteLog(sessions, objectName({ tenant, sessionId }))
  return logSessionStore(objectLogDriver(logOf, new SessionIndex(index, tenant)))
}

import { checkStore } from '../../base/argument-checks.ts'
import { toBase64 } from '../../base/base64.ts'
import { SessionError } from '../../contract/errors.ts'
import type { SessionJournal, SessionJournalOptions, SessionStore } from '../../types/session/session-store.ts'
import { SessionLog } from './session-log.ts'

/**
 * Creates the journal of a custom store from its `open`, `tail` and `blob`, for `SessionStore.journal`.
 *
 * @example
 * ```ts
 * const own: SessionStore = { ...logStore, journal: (options) => sessionJournal(own, options) }
 * ```
 */
export function sessionJournal(
  store: Pick<SessionStore, 'open' | 'tail' | 'blob'>,
  { resume, ...origin }: SessionJournalOptions = {},
): SessionJournal {
  checkStore(store, 'open', 'tail')
  const logs = new Map<string, SessionLog>()

  function logOf(sessionId: string): SessionLog {
    const known = logs.get(sessionId)
    if (known !== undefined) return known
    for (const log of logs.values()) log.rest()
    const log = new SessionLog(store, sessionId, {
      origin,
      resume: resume?.sessionId === sessionId ? resume : undefined,
      mediaFrom: () => [...logs.keys()].filter((id) => id !== sessionId),
    })
    logs.set(sessionId, log)
    return log
  }

  // Create the log immediately, so that it does not treat messages that the owner adds later as recorded.
  if (resume !== undefined) logOf(resume.sessionId)
  return {
    open: (place, conversation) => logOf(place.sessionId).open(place, conversation),
    append: (record, conversation) => logOf(record.sessionId).append(record, conversation),
    media: async (sessionId, { blob, ...block }) => {
      const bytes = await blobOf(store, new Set([sessionId, ...logs.keys()]), blob?.hash ?? '')
      return { ...block, data: toBase64(bytes) }
    },
    close: async () => {
      await Promise.all([...logs.values()].map((log) => log.close()))
    },
  }
}

/**
 * Reads the blob from the first of these sessions that contains it. A forked session uses its source's blobs until it is written.
 */
async function blobOf(store: Pick<SessionStore, 'blob'>, sessionIds: ReadonlySet<string>, hash: string): Promise<Uint8Array<ArrayBuffer>> {
  let failure: unknown
  for (const id of sessionIds) {
    try {
      return await store.blob(id, hash)
    } catch (error) {
      if (!SessionError.isInstance(error) || error.code !== 'notFound') throw error
      failure ??= error
    }
  }
  throw failure
}

/** Returns `store` with another journal and the `added` members. `store` may be a class instance. */
export function withJournal<Store extends SessionStore>(store: Store, journal: SessionStore['journal']): Store
export function withJournal<Store extends SessionStore, Added extends object>(
  store: Store,
  journal: SessionStore['journal'],
  added: Added,
): Store & Added
export function withJournal<Store extends SessionStore>(store: Store, journal: SessionStore['journal'], added: object = {}): Store {
  // Use a proxy, because a copy would lose class methods, and private fields need the original object.
  return new Proxy(store, {
    get(target, name) {
      if (name === 'journal') return journal
      if (Object.hasOwn(added, name)) return Reflect.get(added, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

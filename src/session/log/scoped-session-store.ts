import { checkStore } from '../../base/argument-checks.ts'
import { sha256 } from '../../base/hash.ts'
import { SessionError } from '../../contract/errors.ts'
import type { Session } from '../../contract/session/session.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type {
  SessionJournal,
  SessionJournalOptions,
  SessionListOptions,
  SessionOpenOptions,
  SessionPage,
  SessionStore,
  SessionSummary,
  SessionTailOptions,
  SessionWriter,
} from '../../types/session/session-store.ts'
import { sessionOf } from '../views/session-tree.ts'
import { assertSessionId } from './log-session-store.ts'
import { circleGuard, defaultLimit } from './session-list.ts'

/** Prefix of scoped ids, so that no scope can address another scope's ids. */
/** Length of an owner's id prefix. */
export const ownerChars = 38
const prefixForm = /^user-[0-9a-f]{32}\./

/**
 * Restricts `store` to one user's sessions. Ids are scoped, so that no id gives access to other users' sessions.
 *
 * **Contract**
 * - `owner` identifies the authenticated user and must not be a secret. `store` keeps it in logs and lists, where a host's `recover` reads
 *   it, but the returned store never returns it. Stored ids get a 38-character prefix from its SHA-256, so session ids must be that much
 *   shorter.
 * - Without `owner`, the returned store accesses sessions without an owner. It does not list the ids of owned sessions, and rejects them
 *   with `invalidId`.
 * - Lists query `store` by id prefix. The stores in PostgreSQL, SQLite, D1 and Redis use an index for this. Other stores scan all owners'
 *   sessions.
 * - Everything else behaves like `store`.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function scopedSessionStore(store: SessionStore, owner?: string): SessionStore {
  checkStore(store)
  return new ScopedSessionStore(store, owner)
}

/** Returns the owner and scoped id of a session in a shared store, or `undefined` if it belongs to another user. */
export function placeInScope({ sessionId, owner }: Pick<SessionSummary, 'sessionId' | 'owner'>): ScopedPlace | undefined {
  if (!prefixForm.test(sessionId)) return { sessionId }
  const prefix = owner === undefined ? undefined : prefixOf(owner)
  if (owner === undefined || prefix === undefined || !sessionId.startsWith(prefix)) return undefined
  return { owner, sessionId: sessionId.slice(prefix.length) }
}

interface ScopedPlace {
  owner?: string
  sessionId: string
}

class ScopedSessionStore implements SessionStore {
  readonly promises: SessionStore['promises']
  readonly #store: SessionStore
  readonly #owner: string | undefined
  /** The owner's id prefix. Absent for sessions without an owner. */
  readonly #prefix: string | undefined

  constructor(store: SessionStore, owner: string | undefined) {
    this.promises = store.promises
    this.#store = store
    this.#owner = owner
    this.#prefix = owner === undefined ? undefined : prefixOf(owner)
  }

  async open(sessionId: string, { mediaFrom = [], ...options }: SessionOpenOptions): Promise<SessionWriter> {
    const others = mediaFrom.map((id) => this.#storedId(id))
    const writer = await this.#within(sessionId, (id) => this.#store.open(id, { ...options, mediaFrom: others }))
    return {
      sessionId,
      epoch: writer.epoch,
      records: unnamed(writer.records),
      ...(writer.damage !== undefined && { damage: writer.damage }),
      append: (records) => writer.append(this.#named(records)),
      replace: (records) => writer.replace(this.#named(records)),
      close: () => writer.close(),
    }
  }

  async tail(sessionId: string, options: SessionTailOptions = {}) {
    const tail = await this.#within(sessionId, (id) => this.#store.tail(id, options))
    return { ...tail, records: unnamed(tail.records) }
  }

  blob(sessionId: string, hash: string) {
    return this.#within(sessionId, (id) => this.#store.blob(id, hash))
  }

  /** Uses the journal of `store`, which may record more, such as events. */
  journal({ resume, ...options }: SessionJournalOptions = {}): SessionJournal {
    const journal = this.#store.journal({
      ...options,
      ...(this.#owner !== undefined && { owner: this.#owner }),
      ...(resume !== undefined && { resume: { ...resume, sessionId: this.#storedId(resume.sessionId) } }),
    })
    return {
      ...(journal.event !== undefined && { event: (event) => journal.event?.(event) }),
      open: (place, conversation) => this.#within(place.sessionId, (sessionId) => journal.open({ ...place, sessionId }, conversation)),
      append: (record, conversation) =>
        this.#within(record.sessionId, (sessionId) => journal.append({ ...record, sessionId }, conversation)),
      media: (sessionId, block) => this.#within(sessionId, (id) => journal.media(id, block)),
      close: () => journal.close(),
    }
  }

  async load(sessionId: string): Promise<Session> {
    const { owner: _, ...session } = await this.#within(sessionId, (id) => this.#store.load(id))
    return withId(session, sessionId)
  }

  async salvage(sessionId: string) {
    const { records: found, ...salvaged } = await this.#within(sessionId, (id) => this.#store.salvage(id))
    const records = unnamed(found)
    return { ...salvaged, records, session: sessionOf(records, sessionId) }
  }

  save({ owner: _, ...session }: Session): Promise<void> {
    const owner = this.#owner
    const named = owner === undefined ? session : { ...session, owner }
    return this.#within(session.sessionId, (id) => this.#store.save(withId(named, id)))
  }

  rename(sessionId: string, title: string): Promise<void> {
    return this.#within(sessionId, (id) => this.#store.rename(id, title))
  }

  delete(sessionId: string): Promise<boolean> {
    return this.#within(sessionId, (id) => this.#store.delete(id))
  }

  async list({ limit = defaultLimit, cursor, idPrefix = '', ...asked }: SessionListOptions = {}): Promise<SessionPage> {
    const which = { ...asked, ...((this.#prefix !== undefined || idPrefix !== '') && { idPrefix: `${this.#prefix ?? ''}${idPrefix}` }) }
    const sessions: SessionSummary[] = []
    const checkCircle = circleGuard()
    let next = cursor
    do {
      const before = sessions.length
      const page = await this.#store.list({ ...which, limit: limit - sessions.length, ...(next !== undefined && { cursor: next }) })
      for (const { owner: _, ...summary } of page.sessions) {
        const sessionId = this.#ownId(summary.sessionId)
        if (sessionId !== undefined) sessions.push({ ...summary, sessionId })
      }
      next = page.nextCursor
      checkCircle(next, sessions.length > before)
    } while (next !== undefined && sessions.length < limit)
    return { sessions, ...(next !== undefined && { nextCursor: next }) }
  }

  async listIds(): Promise<string[]> {
    return this.#ownIds(await this.#store.listIds())
  }

  async listForAgent(agentId: string): Promise<string[]> {
    return this.#ownIds(await this.#store.listForAgent(agentId))
  }

  /** Adds the owner to records, as they are stored. */
  #named<Written extends { entry: SessionRecord['entry'] }>(records: readonly Written[]): Written[] {
    const owner = this.#owner
    return unnamed(records).map((record) =>
      record.entry.type === 'sessionStart' && owner !== undefined ? { ...record, entry: { ...record.entry, owner } } : record,
    )
  }

  #ownIds(ids: readonly string[]): string[] {
    return ids.map((id) => this.#ownId(id)).filter((id) => id !== undefined)
  }

  /** Returns the scoped id, or `undefined` for other owners' sessions. */
  #ownId(id: string): string | undefined {
    const prefix = this.#prefix
    if (prefix === undefined) return prefixForm.test(id) ? undefined : id
    return id.startsWith(prefix) ? id.slice(prefix.length) : undefined
  }

  /** Returns the stored id. Throws `invalidId` for an id that could reach another owner. */
  #storedId(sessionId: string): string {
    assertSessionId(sessionId)
    if (this.#prefix !== undefined) return this.#prefix + sessionId
    if (prefixForm.test(sessionId)) throw new SessionError('invalidId', 'A session id cannot begin with a user prefix. Use another id.')
    return sessionId
  }

  /** Runs `act` on one of the owner's sessions. Errors contain the unprefixed id. */
  async #within<Value>(sessionId: string, act: (id: string) => Promise<Value>): Promise<Value> {
    const id = this.#storedId(sessionId)
    const prefix = this.#prefix
    try {
      return await act(id)
    } catch (error) {
      if (prefix === undefined || !SessionError.isInstance(error)) throw error
      throw new SessionError(error.code, error.message.replaceAll(prefix, ''), { cause: error.cause })
    }
  }
}

/** Uses 128 bits of the hash. */
function prefixOf(owner: string): string {
  return `user-${sha256(owner).slice(0, 32)}.`
}

function withId(session: Session, sessionId: string): Session {
  return { ...session, sessionId, loops: session.loops.map((loop) => ({ ...loop, sessionId })) }
}

/** Removes the owner from records. */
function unnamed<Written extends { entry: SessionRecord['entry'] }>(records: readonly Written[]): Written[] {
  return records.map((record) => {
    if (record.entry.type !== 'sessionStart' || record.entry.owner === undefined) return record
    const { owner: _, ...entry } = record.entry
    return { ...record, entry }
  })
}

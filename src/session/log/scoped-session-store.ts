import { sha256 } from '../../base/sha256.ts'
import { SessionError } from '../../contract/errors.ts'
import type { Session } from '../../contract/session/session.ts'
import type {
  SessionJournal,
  SessionJournalOptions,
  SessionListOptions,
  SessionOpenOptions,
  SessionPage,
  SessionStore,
  SessionSummary,
  SessionWriter,
} from '../../types/session/session-store.ts'
import { sessionOf } from '../views/session-tree.ts'
import { assertSessionId } from './log-session-store.ts'
import { defaultLimit } from './session-list.ts'

/** How ids of a scope begin. No scope can name what is in another. */
const prefixForm = /^user-[0-9a-f]{32}\./

/**
 * The part of `store` that belongs to one user: its sessions have ids of their own, and no id reaches those of anybody else.
 *
 * **Contract**
 * - `owner` is who is signed in, as any text; in the store its SHA-256 stands before the ids, 38 characters, which session ids have less then.
 *   Without `owner` it is the part that belongs to nobody in particular: ids of users are then refused with `invalidId`, and not listed.
 * - A list reads on until its page is full, so it costs what `store` has of all owners. Give each a store of its own where they are many.
 * - Everything else is as `store` does it.
 *
 * Source: docs/http-and-workers.md
 */
export function scopedSessionStore(store: SessionStore, owner?: string): SessionStore {
  return new ScopedSessionStore(store, owner)
}

class ScopedSessionStore implements SessionStore {
  readonly promises: SessionStore['promises']
  readonly #store: SessionStore
  /** What the ids of the owner begin with; absent for the part that belongs to nobody in particular. */
  readonly #prefix: string | undefined

  constructor(store: SessionStore, owner: string | undefined) {
    this.promises = store.promises
    this.#store = store
    this.#prefix = owner === undefined ? undefined : prefixOf(owner)
  }

  async open(sessionId: string, { mediaFrom = [], ...options }: SessionOpenOptions): Promise<SessionWriter> {
    const others = mediaFrom.map((id) => this.#storedId(id))
    const writer = await this.#within(sessionId, (id) => this.#store.open(id, { ...options, mediaFrom: others }))
    return {
      sessionId,
      epoch: writer.epoch,
      records: writer.records,
      ...(writer.damage !== undefined && { damage: writer.damage }),
      append: (records) => writer.append(records),
      replace: (records) => writer.replace(records),
      close: () => writer.close(),
    }
  }

  tail(sessionId: string, options: { after?: number; onProgress?: () => void } = {}) {
    return this.#within(sessionId, (id) => this.#store.tail(id, options))
  }

  blob(sessionId: string, hash: string) {
    return this.#within(sessionId, (id) => this.#store.blob(id, hash))
  }

  /** That of `store`, which may keep more than records: events, say. */
  journal({ resume, ...options }: SessionJournalOptions = {}): SessionJournal {
    const journal = this.#store.journal({
      ...options,
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
    return ownedBy(await this.#within(sessionId, (id) => this.#store.load(id)), sessionId)
  }

  async salvage(sessionId: string) {
    const { records, ...salvaged } = await this.#within(sessionId, (id) => this.#store.salvage(id))
    return { ...salvaged, records, session: sessionOf(records, sessionId) }
  }

  save(session: Session): Promise<void> {
    return this.#within(session.sessionId, (id) => this.#store.save(ownedBy(session, id)))
  }

  rename(sessionId: string, title: string): Promise<void> {
    return this.#within(sessionId, (id) => this.#store.rename(id, title))
  }

  delete(sessionId: string): Promise<boolean> {
    return this.#within(sessionId, (id) => this.#store.delete(id))
  }

  async list({ limit = defaultLimit, cursor, ...which }: SessionListOptions = {}): Promise<SessionPage> {
    const sessions: SessionSummary[] = []
    let next = cursor
    do {
      const page = await this.#store.list({ ...which, limit: limit - sessions.length, ...(next !== undefined && { cursor: next }) })
      for (const summary of page.sessions) {
        const sessionId = this.#ownId(summary.sessionId)
        if (sessionId !== undefined) sessions.push({ ...summary, sessionId })
      }
      next = page.nextCursor
    } while (next !== undefined && sessions.length < limit)
    return { sessions, ...(next !== undefined && { nextCursor: next }) }
  }

  async listIds(): Promise<string[]> {
    return this.#ownIds(await this.#store.listIds())
  }

  async listForAgent(agentId: string): Promise<string[]> {
    return this.#ownIds(await this.#store.listForAgent(agentId))
  }

  #ownIds(ids: readonly string[]): string[] {
    return ids.map((id) => this.#ownId(id)).filter((id) => id !== undefined)
  }

  /** The id as its owner knows it; undefined for that of somebody else. */
  #ownId(id: string): string | undefined {
    const prefix = this.#prefix
    if (prefix === undefined) return prefixForm.test(id) ? undefined : id
    return id.startsWith(prefix) ? id.slice(prefix.length) : undefined
  }

  /** The id that the store knows. Throws `invalidId` for one that could reach somebody else. */
  #storedId(sessionId: string): string {
    assertSessionId(sessionId)
    if (this.#prefix !== undefined) return this.#prefix + sessionId
    if (prefixForm.test(sessionId)) throw new SessionError('invalidId', 'Session ids do not begin like that of a user. Take another one.')
    return sessionId
  }

  /** Does something to a session of the owner. Errors name it as the owner does. */
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

/** 128 bits of its hash. */
function prefixOf(owner: string): string {
  return `user-${sha256(owner).slice(0, 32)}.`
}

function ownedBy(session: Session, sessionId: string): Session {
  return { ...session, sessionId, loops: session.loops.map((loop) => ({ ...loop, sessionId })) }
}

import type { SessionSummary } from '../../../src/index.ts'
import type { ObjectNamespace, ObjectState } from './durable-object.ts'
import { answerCall, callHeader, callObject, notACall } from './object-call.ts'

interface SummaryRow extends Record<string, string | number> {
  session_id: string
  agent_id: string
  created_at: number
  last_active_at: number
}

/** Input of the calls of an `IndexObject`. */
type IndexCall = Pick<SessionSummary, 'sessionId' | 'agentId'> & RunCall

/** What is said of a run: how long it counts without a further word, and how many others there may be. */
interface RunCall {
  leaseMs: number
  limit?: number
}

/**
 * A Durable Object that knows the sessions of one tenant. Export it from your Worker, bind it as a class with SQLite, and give the binding to
 * `durableObjectSessionStore` as `index`. It answers that store and nobody else.
 */
export class IndexObject {
  readonly #sql: ObjectState['storage']['sql']
  #latest: number

  constructor(state: ObjectState) {
    this.#sql = state.storage.sql
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS sessions (session_id TEXT PRIMARY KEY, agent_id TEXT NOT NULL,
      created_at INTEGER NOT NULL, last_active_at INTEGER NOT NULL) WITHOUT ROWID`)
    this.#sql.exec('CREATE TABLE IF NOT EXISTS runs (session_id TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID')
    const [row] = this.#sql.exec<{ latest: number | null }>('SELECT max(last_active_at) AS latest FROM sessions')
    this.#latest = row?.latest ?? 0
  }

  async fetch(request: Request): Promise<Response> {
    const action = this.#actionOf(request.headers.get(callHeader))
    return action === undefined ? notACall() : answerCall(async () => action(await request.json()))
  }

  #actionOf(call: string | null): ((input: IndexCall) => unknown) | undefined {
    switch (call) {
      case 'enter':
        return (input) => this.#enter(input)
      case 'update':
        return (input) => this.#update(input)
      case 'remove':
        return ({ sessionId }) => this.#sql.exec('DELETE FROM sessions WHERE session_id = ?', sessionId).rowsWritten > 0
      case 'openRun':
        return (input) => this.#openRun(input)
      case 'closeRun':
        return ({ sessionId }) => void this.#sql.exec('DELETE FROM runs WHERE session_id = ?', sessionId)
      case 'list':
        return () => this.#list()
      default:
        return undefined
    }
  }

  #enter({ sessionId, agentId }: IndexCall): void {
    const now = this.#now()
    this.#sql.exec(
      `INSERT INTO sessions (session_id, agent_id, created_at, last_active_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (session_id) DO UPDATE SET agent_id = excluded.agent_id, last_active_at = excluded.last_active_at`,
      sessionId,
      agentId,
      now,
      now,
    )
  }

  #update({ sessionId }: IndexCall): void {
    this.#sql.exec('UPDATE sessions SET last_active_at = ? WHERE session_id = ?', this.#now(), sessionId)
  }

  /** Counts the run of a session, unless there are too many others. A session has one run at a time. */
  #openRun({ sessionId, leaseMs, limit }: IndexCall): boolean {
    const now = Date.now()
    this.#sql.exec('DELETE FROM runs WHERE until <= ?', now)
    const [row] = this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM runs WHERE session_id <> ?', sessionId)
    if (limit !== undefined && (row?.count ?? 0) >= limit) return false
    this.#sql.exec('INSERT OR REPLACE INTO runs (session_id, until) VALUES (?, ?)', sessionId, now + leaseMs)
    return true
  }

  /** Never twice the same time, so that lists have an order: the clock stands still while a request is answered. */
  #now(): number {
    this.#latest = Math.max(Date.now(), this.#latest + 1)
    return this.#latest
  }

  #list(): SessionSummary[] {
    const rows = this.#sql.exec<SummaryRow>('SELECT * FROM sessions ORDER BY last_active_at DESC').toArray()
    return rows.map((row) => ({
      sessionId: row.session_id,
      agentId: row.agent_id,
      createdAt: row.created_at,
      lastActiveAt: row.last_active_at,
    }))
  }
}

/** The index of a tenant, from outside. */
export class SessionIndex {
  readonly #namespace: ObjectNamespace
  readonly #tenant: string

  constructor(namespace: ObjectNamespace, tenant: string) {
    this.#namespace = namespace
    this.#tenant = tenant
  }

  /** Enters a session as active now. */
  enter(sessionId: string, agentId: string): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'enter', { sessionId, agentId })
  }

  /** Counts the run of a session for `leaseMs` from now; `false` when `limit` others are counted already. Without a limit it always counts. */
  openRun(sessionId: string, run: RunCall): Promise<boolean> {
    return callObject(this.#namespace, this.#tenant, 'openRun', { sessionId, ...run })
  }

  /** The run of a session counts no more. */
  closeRun(sessionId: string): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'closeRun', { sessionId })
  }

  /** Says that a session was active; nothing when it is not there any more. */
  update(sessionId: string): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'update', { sessionId })
  }

  /** Resolves with whether it was there. */
  remove(sessionId: string): Promise<boolean> {
    return callObject(this.#namespace, this.#tenant, 'remove', { sessionId })
  }

  /** The most recently active first. */
  list(): Promise<SessionSummary[]> {
    return callObject(this.#namespace, this.#tenant, 'list')
  }
}

import type { LogQuery, SessionDigest, SessionSummary } from '../../../../src/session.ts'
import { type ObjectNamespace, type ObjectState, risingClock } from '../workers-platform.ts'
import { answerCall, callHeader, callObject, notACall } from './object-call.ts'

interface SummaryRow extends Record<string, string | number> {
  session_id: string
  agent_id: string
  created_at: number
  last_active_at: number
  /** JSON text of a `SessionDigest`. May be empty. */
  digest: string
}

/** A session's status and user. Empty if unknown. */
const statusInDigest = `CASE WHEN json_valid(digest) THEN coalesce(json_extract(digest, '$.status'), '') ELSE '' END`

/** Input for calls to an `IndexObject`. */
type IndexCall = Pick<SessionSummary, 'sessionId' | 'agentId'> & RunCall & { digest?: SessionDigest; query?: LogQuery }

/** A run's lease, and the limit for other runs. */
interface RunCall {
  leaseMs: number
  limit?: number
}

/**
 * A Durable Object that lists one tenant's sessions. Export it from your Worker, bind it as a class with SQLite, and pass
 * the binding to `durableObjectSessionStore` as `index`. Only that store may call it.
 */
export class IndexObject {
  readonly #sql: ObjectState['storage']['sql']
  readonly #now: () => number

  constructor(state: ObjectState) {
    this.#sql = state.storage.sql
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS sessions (session_id TEXT PRIMARY KEY, agent_id TEXT NOT NULL,
      created_at INTEGER NOT NULL, last_active_at INTEGER NOT NULL, digest TEXT NOT NULL DEFAULT '') WITHOUT ROWID`)
    this.#sql.exec('CREATE INDEX IF NOT EXISTS by_activity ON sessions (last_active_at)')
    this.#sql.exec(`CREATE INDEX IF NOT EXISTS by_status ON sessions (${statusInDigest}, last_active_at)`)
    this.#sql.exec('CREATE TABLE IF NOT EXISTS runs (session_id TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID')
    const [row] = this.#sql.exec<{ latest: number | null }>('SELECT max(last_active_at) AS latest FROM sessions')
    this.#now = risingClock(row?.latest ?? 0)
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
        return ({ query }) => this.#list(query)
      default:
        return undefined
    }
  }

  #enter({ sessionId, agentId, digest }: IndexCall): void {
    const now = this.#now()
    this.#sql.exec(
      `INSERT INTO sessions (session_id, agent_id, created_at, last_active_at, digest) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (session_id) DO UPDATE SET agent_id = excluded.agent_id, last_active_at = excluded.last_active_at, digest = excluded.digest`,
      sessionId,
      agentId,
      now,
      now,
      digest === undefined ? '' : JSON.stringify(digest),
    )
  }

  #update({ sessionId, digest }: IndexCall): void {
    this.#sql.exec(
      'UPDATE sessions SET last_active_at = ?, digest = coalesce(?, digest) WHERE session_id = ?',
      this.#now(),
      digest === undefined ? null : JSON.stringify(digest),
      sessionId,
    )
  }

  /** Counts a session's run, unless the limit is reached. A session has at most one active run. */
  #openRun({ sessionId, leaseMs, limit }: IndexCall): boolean {
    const now = Date.now()
    this.#sql.exec('DELETE FROM runs WHERE until <= ?', now)
    const [row] = this.#sql.exec<{ count: number }>('SELECT count(*) AS count FROM runs WHERE session_id <> ?', sessionId)
    if (limit !== undefined && (row?.count ?? 0) >= limit) return false
    this.#sql.exec('INSERT OR REPLACE INTO runs (session_id, until) VALUES (?, ?)', sessionId, now + leaseMs)
    return true
  }

  /** Times are unique. */
  #list({ agentId, status, limit, after }: LogQuery = {}): SessionSummary[] {
    // Sessions from older versions have an empty status.
    const [isAsked, ...asked] = status === undefined ? ['true'] : [`${statusInDigest} IN (?, '')`, status]
    const rows = this.#sql.exec<SummaryRow>(
      `SELECT * FROM sessions WHERE ${isAsked} AND last_active_at < coalesce(?, 9e15) AND agent_id = coalesce(?, agent_id)
       ORDER BY last_active_at DESC LIMIT ?`,
      ...asked,
      after?.lastActiveAt ?? null,
      agentId ?? null,
      limit ?? -1,
    )
    return [...rows].map(summaryOf)
  }
}

function summaryOf({ session_id, agent_id, created_at, last_active_at, digest }: SummaryRow): SessionSummary {
  const summary = { sessionId: session_id, agentId: agent_id, createdAt: created_at, lastActiveAt: last_active_at, loops: 0, messages: 0 }
  if (digest === '') return summary
  try {
    const { agentId: _, createdAt: __, ...fields }: SessionDigest = JSON.parse(digest)
    return { ...summary, ...fields }
  } catch {
    const message = `The list entry of session ${session_id} is unreadable. The next write to the session replaces it.`
    return { ...summary, error: { code: 'io', message } }
  }
}

/** A tenant's index, accessed from outside. */
export class SessionIndex {
  readonly #namespace: ObjectNamespace
  readonly #tenant: string

  constructor(namespace: ObjectNamespace, tenant: string) {
    this.#namespace = namespace
    this.#tenant = tenant
  }

  /** Adds a session with the current time. */
  enter(sessionId: string, agentId: string, digest?: SessionDigest): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'enter', { sessionId, agentId, digest })
  }

  /**
   * Counts a session's run for `leaseMs`. Resolves with `false` if `limit` other runs are already counted. Without a limit, always counts.
   */
  openRun(sessionId: string, run: RunCall): Promise<boolean> {
    return callObject(this.#namespace, this.#tenant, 'openRun', { sessionId, ...run })
  }

  /** Stops counting a session's run. */
  closeRun(sessionId: string): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'closeRun', { sessionId })
  }

  /** Updates a session's time. Does nothing if it was deleted. */
  update(sessionId: string, digest?: SessionDigest): Promise<void> {
    return callObject(this.#namespace, this.#tenant, 'update', { sessionId, digest })
  }

  /** Removes a session. Resolves with whether it existed. */
  remove(sessionId: string): Promise<boolean> {
    return callObject(this.#namespace, this.#tenant, 'remove', { sessionId })
  }

  /** Lists sessions, most recently active first. */
  list(query: LogQuery = {}): Promise<SessionSummary[]> {
    return callObject(this.#namespace, this.#tenant, 'list', { query })
  }
}

import { startTimer } from '../../src/base/timer.ts'
import { errorText } from '../../src/contract/errors.ts'
import { SessionError } from '../../src/session.ts'

/**
 * The interface to a database: one statement at a time, on any connection. A `Pool` from `pg` implements it.
 *
 * **Contract**
 * - `values` are texts, numbers, lists of these, and bytes, for `$1`, `$2` and so on. `rows` have `bytea` as `Uint8Array`, and
 *   `bigint` as a text or a number.
 * - Rejects if the statement fails, with the PostgreSQL error code in `code`.
 *
 * Source: docs/guides/choose-a-store.md
 */
export interface SqlPool {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>
}

/** Adds a timeout to statements, so that a stalled database or an exhausted pool blocks no caller forever. */
export function answeringIn(statementTimeoutMs: number, pool: SqlPool): SqlPool {
  return {
    query: (text, values) =>
      new Promise((resolve, reject) => {
        const stopTimer = startTimer(statementTimeoutMs, () =>
          reject(new Error(`The database did not respond within ${statementTimeoutMs} ms.`)),
        )
        pool.query(text, values).finally(stopTimer).then(resolve, reject)
      }),
  }
}

/** Pool, schema and tenant. */
export interface PostgresPlace {
  pool: SqlPool
  schema: string
  tenant: string
}

/** The database's time in epoch milliseconds, which is the same for all machines. */
export const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** Classes of PostgreSQL error codes: insufficient resources. */
const noRoom = /^(53100|53200|54)/
/** PostgreSQL's code for system failures without a specific code, such as EDQUOT. */
const internal = 'XX000'
/** The database is read-only: a standby, or the former primary after a failover. */
const readOnly = '25006'
/** Another writer has written the row. */
const uniqueViolation = '23505'

/** Connection failures: Node's codes, and PostgreSQL's codes for a rejected login and an unknown database. */
const noConnection = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|28000|28P01|3D000)$/

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Returns advice for an unreachable database, or `undefined` for another failure. Contains no part of the URL. */
export function unreachable(error: unknown): string | undefined {
  const code = codeOf(error)
  if (!noConnection.test(code)) return undefined
  return `cannot connect to PostgreSQL (code ${code}). Check that it runs, and the address and the user of the pool, such as in DATABASE_URL.`
}

/** Runs `act`. Converts database failures to a `SessionError` that names `subject` and contains no values. */
export async function asked<Value>(subject: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (SessionError.isInstance(error)) throw error
    const code = codeOf(error)
    if (code === uniqueViolation) throw new SessionError('conflict', `${subject}: another writer wrote the same record.`)
    const why = unreachable(error)
    if (why !== undefined) throw new SessionError('io', `${subject}: ${why}`, { cause: error })
    const reason = code === '' ? 'no response' : `code ${code}`
    const failed = `${subject}: PostgreSQL failed (${reason}).`
    if (noRoom.test(code) || (code === internal && /Disk quota exceeded/i.test(errorText(error))))
      throw new SessionError('quota', `${failed} The disk is full. Delete sessions, or add storage.`, { cause: error })
    if (code === readOnly)
      throw new SessionError('io', `${failed} The database is read-only. Connect the pool to the primary.`, { cause: error })
    throw new SessionError('io', `${failed} The outcome of the query is unknown. Retry.`, { cause: error })
  }
}

import { checkOptions } from '../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { ScheduleEntry, ScheduleStore } from '../../http/index.ts'
import type { SessionAddress } from '../../http/internal.ts'
import { dueAtOnce } from '../../http/internal.ts'
import { type PostgresSessionStoreOptions, storeOptionTable } from '../postgres-session-store.ts'
import { placeOf } from '../schema.ts'
import { asked } from '../sql-pool.ts'

/** Milliseconds between checks for other processes' schedules. */
const lookMs = 30_000

/**
 * Creates a store for scheduled prompts in PostgreSQL, for `postgresLiveSessions`. Any process can take a due prompt. The process that owns
 * the session sends it.
 *
 * **Contract**
 * - Call `migrate({ pool })` first. One process takes each prompt.
 * - The clock of the process that polls decides what is due. If a process records a schedule and ends, another one finds it
 *   within 30 s.
 * - Throws `ConfigError` `invalidOption` for an invalid option. Rejects with `SessionError` if the database fails.
 *
 * Source: docs/guides/deploy.md
 */
export function postgresSchedules(options: PostgresSessionStoreOptions): ScheduleStore {
  checkOptions(options, optionsOf(storeOptionTable))
  const { pool, schema, tenant } = placeOf(options)
  const table = `${schema}.schedules`
  const rows = (text: string, more: unknown[] = []) =>
    asked('A scheduled prompt', async () => (await pool.query(text, [tenant, ...more])).rows)
  const one = 'tenant = $1 AND owner = $2 AND session_id = $3'
  return {
    lookMs,
    add: async ({ address, id, at, everyMs, prompt }) => {
      await rows(`INSERT INTO ${table} VALUES ($1, $2, $3, $4, $5, $6, $7)`, [
        ...placeIn(address),
        id,
        at,
        everyMs ?? null,
        JSON.stringify(prompt),
      ])
    },
    list: async (address) => (await rows(`SELECT * FROM ${table} WHERE ${one} ORDER BY at, id`, placeIn(address))).map(entryIn),
    due: async (now) =>
      (await rows(`SELECT * FROM ${table} WHERE tenant = $1 AND at <= $2 ORDER BY at LIMIT ${dueAtOnce}`, [now])).map(entryIn),
    nextAt: async () => {
      const [next] = await rows(`SELECT min(at) AS at FROM ${table} WHERE tenant = $1`)
      return next?.at === null || next?.at === undefined ? undefined : Number(next.at)
    },
    move: async ({ address, id, at }, to) => {
      const found = `${one} AND id = $4 AND at = $5 RETURNING 1`
      const values = [...placeIn(address), id, at]
      if (to === undefined) return (await rows(`DELETE FROM ${table} WHERE ${found}`, values)).length > 0
      return (await rows(`UPDATE ${table} SET at = $6 WHERE ${found}`, [...values, to])).length > 0
    },
    delete: async (address, id) => {
      const which = id === undefined ? '' : ' AND id = $4'
      const deleted = await rows(`DELETE FROM ${table} WHERE ${one}${which} RETURNING 1`, [
        ...placeIn(address),
        ...(id === undefined ? [] : [id]),
      ])
      return deleted.length > 0
    },
  }
}

function placeIn({ identity = '', sessionId }: SessionAddress): [string, string] {
  return [identity, sessionId]
}

/** Stored as JSON, because PostgreSQL text cannot hold NUL or lone surrogates. */
function entryIn({ owner, session_id, id, at, every_ms, prompt }: Record<string, unknown>): ScheduleEntry {
  const identity = String(owner)
  return {
    id: String(id),
    prompt: String(JSON.parse(String(prompt))),
    at: Number(at),
    ...(every_ms !== null && { everyMs: Number(every_ms) }),
    address: { sessionId: String(session_id), ...(identity !== '' && { identity }) },
  }
}

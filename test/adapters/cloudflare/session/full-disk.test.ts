import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { durableObjectSessionStore, IndexObject, type ObjectState, SessionObject } from '../../../../adapters/cloudflare/index.ts'
import type { SqlValue } from '../../../../adapters/cloudflare/session/workers-platform.ts'

/** The state of an object over the same SQLite, with room for few pages: workerd's own cannot be made small. */
function smallState(pages: number): ObjectState {
  const database = new DatabaseSync(':memory:')
  database.exec(`PRAGMA max_page_count = ${pages}`)
  const unused = () => Promise.reject(new Error('not asked for here'))
  return {
    blockConcurrencyWhile: (action) => action(),
    storage: {
      sql: {
        exec: <Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]) => {
          const statement = database.prepare(query)
          const parameters = bindings.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value))
          const isQuery = statement.columns().length > 0
          const rows = isQuery ? (statement.all(...parameters) as Row[]) : [] // the caller says what its query gives
          const rowsWritten = isQuery ? 0 : Number(statement.run(...parameters).changes)
          return { toArray: () => rows, rowsWritten, [Symbol.iterator]: () => rows[Symbol.iterator]() }
        },
      },
      transactionSync: (action) => {
        database.exec('BEGIN')
        try {
          const value = action()
          database.exec('COMMIT')
          return value
        } catch (error) {
          // Where there is no room, SQLite has done so itself.
          if (database.isTransaction) database.exec('ROLLBACK')
          throw error
        }
      },
      sync: async () => undefined,
      get: unused,
      put: unused,
      deleteAll: unused,
      setAlarm: unused,
      deleteAlarm: unused,
    },
  }
}

it("rejects writes with code quota if the object's database is full", async () => {
  const session = new SessionObject(smallState(40))
  const index = new IndexObject(smallState(40))
  const store = durableObjectSessionStore({ sessions: { getByName: () => session }, index: { getByName: () => index } })
  const writer = await store.open('s1', { agentId: 'a' })
  const note = (data: string) => ({
    entry: { type: 'input' as const, message: { role: 'extension' as const, id: data.slice(0, 5), kind: 'note', data } },
  })
  await writer.append([note('small')])
  await expect(writer.append([note('fits'), note('x'.repeat(300_000))])).rejects.toMatchObject({ name: 'SessionError', code: 'quota' })
  const { records, damage } = await store.tail('s1')
  expect([records.length, damage]).toEqual([1, undefined])
  await (await store.open('s1', { agentId: 'a' })).append([note('small again')])
  expect((await store.tail('s1')).records.length).toBe(2)
})

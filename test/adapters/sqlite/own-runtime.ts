// Stores sessions in SQLite: argv the file. Runs in Node, Bun and Deno.
import { sqliteSessionStore } from '../../../adapters/sqlite/index.ts'
import { useSessions } from '../../support/sessions-in-runtime.ts'

const [path = ''] = process.argv.slice(2)

const found = await useSessions(async () => {
  const name = 'Bun' in globalThis ? 'bun:sqlite' : 'node:sqlite'
  const { Database, DatabaseSync } = await import(name)
  return sqliteSessionStore({ database: new (Database ?? DatabaseSync)(path) })
})
console.log(JSON.stringify(found))

import { afterAll, beforeAll, describe } from 'vitest'
import { migrate } from '../../../adapters/postgres/index.ts'
import { type Database, postgresPrograms, startPostgres } from './server.ts'

/**
 * Tests on a database of their own, whose tables are made. Where this machine has no PostgreSQL, one line says that they were not run. The database is there once
 * hooks and tests run, not before.
 */
export function onPostgres(name: string, tests: (database: Database) => void): void {
  const programs = postgresPrograms()
  if (programs === undefined) console.log(`NOT RUN: ${name}: there is no PostgreSQL on this machine (apt-get install postgresql)`)
  describe.skipIf(programs === undefined)(name, () => {
    let started: Database | undefined
    const there = (): Database => {
      if (started === undefined) throw new Error('The database is started by a hook: ask it in hooks and tests.')
      return started
    }
    beforeAll(async () => {
      started = await startPostgres(programs ?? '', { fsync: 'off' })
      await migrate({ pool: started.pool })
    }, 60_000)
    // The hooks of the tests come first: what they have made still has its database.
    afterAll(() => started?.stop())
    tests({
      get pool() {
        return there().pool
      },
      get folder() {
        return there().folder
      },
      get url() {
        return there().url
      },
      crash: () => there().crash(),
      stop: () => there().stop(),
    })
  })
}

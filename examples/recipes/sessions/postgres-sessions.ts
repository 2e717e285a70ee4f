import { migrate, postgresSessionStore, type SqlPool } from 'phi-core/postgres'

/** Sessions that any number of machines share. `pool` is a `Pool` of the package `pg`. */
export async function sharedSessions(pool: SqlPool) {
  await migrate(pool)
  return postgresSessionStore({ pool })
}

import { migrate, postgresSessionStore, type SqlPool } from 'phi-core/postgres'

/** A store that any number of machines can share. `pool` is a `Pool` of the package `pg`. */
export async function sharedSessions(pool: SqlPool) {
  await migrate({ pool })
  return postgresSessionStore({ pool })
}

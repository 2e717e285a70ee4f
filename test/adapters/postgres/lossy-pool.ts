import type { SqlPool } from '../../../adapters/postgres/index.ts'
import type { Database } from './server.ts'

/** A pool whose statements are lost while it is silent, as those of one without a free connection are. */
export function lossyPool(database: Database): { pool: SqlPool; silence(silent: boolean): void } {
  let isSilent = false
  return {
    pool: { query: (text, values) => (isSilent ? new Promise(() => undefined) : database.pool.query(text, values)) },
    silence: (silent) => {
      isSilent = silent
    },
  }
}

/**
 * Sessions in SQLite, for any number of processes on one machine. Pass an open database from `node:sqlite`, `bun:sqlite` or
 * `better-sqlite3`. This entry imports none of them.
 *
 * @module
 */

export {
  type SqliteDatabase,
  type SqlitePrepared,
  type SqliteSessionStoreOptions,
  sqliteSessionStore,
} from './sqlite-session-store.ts'

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Redis } from 'ioredis'
import { fileSessionStore } from '../../adapters/node/session/file-session-store.ts'
import { redisSessionStore } from '../../adapters/redis/index.ts'
import { sqliteSessionStore } from '../../adapters/sqlite/index.ts'
import type { SessionStore } from '../../src/index.ts'
import { socketName } from '../adapters/redis/server.ts'

/** Stores whose processes are killed. */
export type KilledStore = 'files' | 'sqlite' | 'redis'

/** A store as one process has it. */
export interface OpenedStore {
  store: SessionStore
  close(): void
}

/** Opens the store of this kind in a directory, as one process does. */
export function killedStore(kind: string, directory: string): OpenedStore {
  if (kind === 'files') return { store: fileSessionStore(directory), close: () => undefined }
  if (kind === 'sqlite') {
    const database = new DatabaseSync(join(directory, 'sessions.db'))
    return { store: sqliteSessionStore({ database }), close: () => database.close() }
  }
  if (kind === 'redis') {
    const client = new Redis({ path: join(directory, socketName) })
    return { store: redisSessionStore({ client }), close: () => client.disconnect() }
  }
  throw new Error(`There is no store ${kind}.`)
}

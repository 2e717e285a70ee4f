/**
 * Sessions in Redis or Valkey, for any number of processes and machines. Pass a client from `redis` or `ioredis`. This entry imports
 * neither.
 *
 * @module
 */

export type { RedisClient } from './redis-connection.ts'
export { type RedisSessionStoreOptions, redisSessionStore } from './redis-session-store.ts'

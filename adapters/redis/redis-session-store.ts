import { hasHalf } from '../../src/base/text/characters.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { kind, oneOf, options as optionsOf, required, wholeFrom } from '../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../src/index.ts'
import { type LogDriver, logSessionStore, SessionError } from '../../src/session.ts'
import { type RedisClient, RedisConnection, textOfReply } from './redis-connection.ts'
import { redisLogDriver } from './redis-log-driver.ts'

/** Options for `redisSessionStore`: client, prefix, tenant, durability and timeout. */
export interface RedisSessionStoreOptions {
  /** A connected client from `redis` or `ioredis`. The caller closes it. */
  client: RedisClient
  /** Prefix for all key names: 1 to 50 letters, digits, `_`, `-` or `.`. Default: `phi`. */
  prefix?: string
  /** The sessions' owner. Other tenants' sessions are unreachable. At most 200 characters. Default: none. */
  tenant?: string
  /**
   * The failures that an acknowledged record survives: a crash of this process, or also a server crash or power failure. Set `powerCut` if
   * the server has `appendonly yes` and `appendfsync always`, or stores writes durably in another way. Default: `crash`.
   */
  survives?: 'crash' | 'powerCut'
  /** Milliseconds until a command fails, including the wait for a connection. Default: 30,000. */
  commandTimeoutMs?: number
}

const aClient = kind<RedisClient>(
  'a connected client, such as await createClient().connect() of redis, or new Redis() of ioredis, with sendCommand() or call()',
  (value) => {
    const { call, sendCommand }: { call?: unknown; sendCommand?: unknown } = Object(value)
    return typeof call === 'function' || typeof sendCommand === 'function'
  },
)

const storeOptions = optionsOf<RedisSessionStoreOptions>({
  client: required(aClient),
  prefix: kind('1 to 50 letters, digits, "_", "-" or "."', (value) => typeof value === 'string' && /^[\w.-]{1,50}$/.test(value)),
  tenant: kind(
    'a text of at most 200 characters, without unpaired surrogates',
    (value) => typeof value === 'string' && value.length <= 200 && !hasHalf(value),
  ),
  survives: oneOf('crash', 'powerCut'),
  commandTimeoutMs: wholeFrom(1),
})

/**
 * Creates a session store in Redis 6.2 or newer, or Valkey, for any number of processes and machines.
 *
 * **Contract**
 * - Each session has one writer at a time. A writer that lost ownership gets no acknowledgement.
 * - Each change is one script, so it happens as a whole. A command that the client sends again has no second effect.
 * - By default, a server crash can lose acknowledged records. With `survives: 'powerCut'`, `open` rejects with `io` if the server
 *   permits CONFIG GET and lacks `appendonly yes` or `appendfsync always`. A failover to a replica can lose records in any case.
 * - All keys start with `{prefix}` or `{prefix:tenant}`, so one tenant's keys are in one cluster slot. Tenants spread over the cluster.
 * - The server must not evict keys: use `maxmemory-policy noeviction`.
 * - Rejects with `SessionError`: `quota` if the server's memory is full, `io` if it does not respond, `conflict`.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 *
 * @example
 * ```ts
 * const client = await createClient({ url: process.env.REDIS_URL }).on('error', () => undefined).connect()
 * const store = redisSessionStore({ client })
 * ```
 */
export function redisSessionStore(options: RedisSessionStoreOptions): SessionStore {
  checkOptions(options, storeOptions)
  const { client, prefix = 'phi', tenant = '', survives = 'crash', commandTimeoutMs = 30_000 } = options
  const connection = new RedisConnection(client, commandTimeoutMs)
  const tag = tenant === '' ? prefix : `${prefix}:${encodeURIComponent(tenant)}`
  const driver = redisLogDriver({ connection, prefix: `{${tag}}`, survives })
  return logSessionStore(survives === 'crash' ? driver : onDurableServer(connection, driver))
}

/** Checks the server's settings before the first claim. Not later, because only an operator changes them. */
function onDurableServer(connection: RedisConnection, driver: LogDriver): LogDriver {
  let isChecked = false
  return {
    ...driver,
    claim: async (sessionId, agentId, onProgress) => {
      if (!isChecked) await assertDurable(connection, sessionId)
      isChecked = true
      return driver.claim(sessionId, agentId, onProgress)
    },
  }
}

/** Settings for a server that stores each write on its disk before it responds. */
const durableSettings = { appendonly: 'yes', appendfsync: 'always' }

async function assertDurable(connection: RedisConnection, sessionId: string): Promise<void> {
  // Hosted servers may not permit the command. Then the option alone counts.
  const reply = await connection.send('CONFIG', ['GET', 'append*']).catch(() => undefined)
  for (const [name, needed] of Object.entries(durableSettings)) {
    const value = settingIn(reply, name)
    if (value === '' || value === needed) continue
    const found = `the server has ${name} ${value}, so a power failure can lose acknowledged records`
    throw new SessionError('io', `Session ${sessionId}: ${found}. Set ${name} ${needed}, or omit survives: 'powerCut'.`)
  }
}

/** Clients return settings as a list of names and values, a map or an object. */
function settingIn(reply: unknown, name: string): string {
  if (Array.isArray(reply)) return textOfReply(reply[reply.indexOf(name) + 1])
  return textOfReply(reply instanceof Map ? reply.get(name) : Object(reply)[name])
}

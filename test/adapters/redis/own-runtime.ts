// Stores sessions in Redis: argv its socket. Runs in Node and Deno with the client of ioredis, and in Bun with its own.
import { Redis } from 'ioredis'
import { redisSessionStore } from '../../../adapters/redis/index.ts'
import { useSessions } from '../../support/sessions-in-runtime.ts'

const [path = ''] = process.argv.slice(2)

async function connect() {
  if (!('Bun' in globalThis)) return new Redis({ path })
  const name = 'bun'
  const { RedisClient } = await import(name)
  const client = new RedisClient(`redis+unix://${path}`)
  return { call: (command: string, args: string[]): Promise<unknown> => client.send(command, args) }
}

const client = await connect()
const tenant = crypto.randomUUID()
console.log(JSON.stringify(await useSessions(async () => redisSessionStore({ client, tenant }))))
process.exit()

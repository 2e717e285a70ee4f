import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe } from 'vitest'
import { type RedisServer, redisProgram, startRedis } from './server.ts'

/** A client of a server, as a program has it. */
type NodeRedis = Awaited<ReturnType<typeof connectedTo>>

/** A server that is there once hooks and tests run, with connected clients. */
export interface TestedRedis extends RedisServer {
  /** Of `redis`. */
  client: NodeRedis
  /** Another connection of `ioredis`. */
  io: Redis
}

/**
 * Tests on a Redis of their own, whose acknowledged writes are on its disk. Where this machine has no Redis, one line says that they were not
 * run.
 */
export function onRedis(name: string, tests: (server: TestedRedis) => void, settings?: string[]): void {
  const program = redisProgram()
  if (program === undefined) console.log(`NOT RUN: ${name}: there is no Redis on this machine (apt-get install redis-server)`)
  describe.skipIf(program === undefined)(name, () => {
    let there: TestedRedis | undefined
    beforeAll(async () => {
      const server = await startRedis(program ?? '', undefined, settings)
      const io = new Redis({ path: server.socket, maxRetriesPerRequest: null })
      io.on('error', () => undefined)
      there = { ...server, client: await connectedTo(server.socket), io }
    }, 60_000)
    afterAll(async () => {
      there?.client.destroy()
      there?.io.disconnect()
      await there?.stop()
    })
    const started = (): TestedRedis => {
      if (there === undefined) throw new Error('The server is started by a hook: ask it in hooks and tests.')
      return there
    }
    tests({
      get socket() {
        return started().socket
      },
      get client() {
        return started().client
      },
      get io() {
        return started().io
      },
      crash: () => started().crash(),
      stall: () => started().stall(),
      proceed: () => started().proceed(),
      stop: () => started().stop(),
    })
  })
}

async function connectedTo(socket: string) {
  const client = createClient({ socket: { path: socket, tls: false } })
  client.on('error', () => undefined)
  return client.connect()
}

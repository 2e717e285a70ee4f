import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RedisClient, redisSessionStore } from '../../../adapters/redis/index.ts'
import { patient } from '../../support/patience.ts'
import { foundSessions, useSessions } from '../../support/sessions-in-runtime.ts'
import { freePort } from '../mcp/http-server.ts'
import { onRedis } from './on-redis.ts'
import { redisProgram, startRedis } from './server.ts'

onRedis('sessions in Redis from other runtimes', (redis) => {
  it.each([
    ['Node', ['node']],
    ['Bun', ['bun']],
    ['Deno', ['deno', 'run', '--allow-all', '--no-check']],
  ])('stores, resumes and deletes sessions in %s', async (_name, [program = '', ...flags]) => {
    const args = [...flags, 'test/adapters/redis/own-runtime.ts', redis.socket]
    const { stdout } = await promisify(execFile)(resolve('node_modules/.bin', program), args)
    expect(JSON.parse(stdout)).toEqual(foundSessions)
  })
})

describe.skipIf(redisProgram() === undefined)('sessions in Redis on a port', () => {
  async function started(port: number, ...settings: string[]): Promise<string> {
    const server = await startRedis(redisProgram() ?? '', undefined, ['--bind', '127.0.0.1', '--port', `${port}`, ...settings])
    onTestFinished(() => server.stop())
    return server.socket
  }

  it('continues a conversation as the guide shows', async () => {
    const port = await freePort()
    await started(port)
    const env = { ...process.env, REDIS_URL: `redis://127.0.0.1:${port}` }
    const run = () => promisify(execFile)(resolve('node_modules/.bin/node'), ['examples/recipes/sessions/redis-sessions.ts'], { env })
    expect((await run()).stdout).toBe('You have sent 1 messages.\n')
    expect((await run()).stdout).toBe('You have sent 2 messages.\n')
  })

  it('stores the sessions of a tenant in one slot of a cluster', async () => {
    const port = await freePort()
    const path = await started(
      port,
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      `${await freePort()}`,
      '--cluster-announce-ip',
      '127.0.0.1',
    )
    const node = new Redis({ path })
    onTestFinished(() => node.disconnect())
    await node.cluster('ADDSLOTSRANGE', 0, 16_383)
    await expect.poll(() => node.cluster('INFO'), patient).toContain('cluster_state:ok')
    const io = new Cluster([{ host: '127.0.0.1', port }])
    onTestFinished(() => io.disconnect())
    const cluster = await createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] }).connect()
    onTestFinished(() => cluster.destroy())
    const clients: RedisClient[] = [
      node,
      io,
      // As the guide shows.
      {
        sendCommand: (args) =>
          cluster.sendCommand(
            args.find((arg) => arg.startsWith('{')),
            false,
            args,
          ),
      },
    ]
    for (const client of clients)
      for (const tenant of ['', 'acme']) expect(await useSessions(async () => redisSessionStore({ client, tenant }))).toEqual(foundSessions)
  })
})

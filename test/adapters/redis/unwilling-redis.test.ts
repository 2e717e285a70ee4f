import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { type RedisClient, redisSessionStore } from '../../../adapters/redis/index.ts'
import { SessionError } from '../../../src/session.ts'
import { note, notesIn } from '../../../testing/session-store/session-samples.ts'
import { onRedis } from './on-redis.ts'

onRedis('sessions in a Redis that refuses or stalls', (redis) => {
  it('rejects with quota and stores nothing if the memory is full', async () => {
    const store = redisSessionStore({ client: redis.client, tenant: 'full' })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('fits')])
    await redis.io.config('SET', 'maxmemory', '1mb')
    const refused = writer.append([note('too much'), note('also too much')])
    await expect(refused).rejects.toMatchObject({ code: 'quota', message: expect.stringContaining('maxmemory') })
    await expect(store.open('other', { agentId: 'a' })).rejects.toMatchObject({ code: 'quota' })
    expect(notesIn((await store.tail('s')).records)).toEqual(['fits'])
    expect(await store.delete('other')).toBe(false)
    await writer.close()
    await redis.io.config('SET', 'maxmemory', '0')
  })

  it('reads from a server that became a replica, and rejects writes with io', async () => {
    const store = redisSessionStore({ client: redis.io, tenant: 'replica' })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('before')])
    await redis.io.call('REPLICAOF', ['127.0.0.1', '1'])
    await expect(writer.append([note('refused')])).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('primary') })
    expect(notesIn((await store.tail('s')).records)).toEqual(['before'])
    await redis.io.call('REPLICAOF', ['NO', 'ONE'])
    await writer.close()
  })

  it('rejects with io if the server stalls, and continues afterwards', async () => {
    const store = redisSessionStore({ client: redis.client, tenant: 'stalled', commandTimeoutMs: 2_000 })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('before')])
    redis.stall()
    await expect(writer.append([note('late')])).rejects.toMatchObject({ code: 'io', message: expect.stringContaining('no response') })
    redis.proceed()
    await writer.close()
    const patientStore = redisSessionStore({ client: redis.client, tenant: 'stalled' })
    const next = await patientStore.open('s', { agentId: 'a' })
    await next.append([note('after')])
    await next.close()
    // The server ran the late command before the next claim.
    expect(notesIn((await patientStore.tail('s')).records)).toEqual(['before', 'late', 'after'])
  })

  it('opens a session with survives powerCut only if the server stores each write on its disk', async () => {
    const store = (client: RedisClient) => redisSessionStore({ client, tenant: 'durable', survives: 'powerCut' })
    expect(redisSessionStore({ client: redis.io }).promises.survives).toBe('crash')
    for (const [name, weak, needed] of [
      ['appendfsync', 'everysec', 'always'],
      ['appendonly', 'no', 'yes'],
    ] as const) {
      await redis.io.config('SET', name, weak)
      for (const client of [redis.client, redis.io]) {
        const refused = store(client).open('s', { agentId: 'a' })
        await expect(refused).rejects.toMatchObject({ code: 'io', message: expect.stringContaining(`Set ${name} ${needed}`) })
      }
      await redis.io.config('SET', name, needed)
    }
    let checks = 0
    const counted: RedisClient = {
      call: (command, args) => {
        if (command === 'CONFIG') checks += 1
        return redis.io.call(command, args)
      },
    }
    const opened = store(counted)
    for (let times = 0; times < 3; times += 1) await (await opened.open('s', { agentId: 'a' })).close()
    expect(checks).toBe(1)
    await (await store(redis.client).open('s', { agentId: 'a' })).close()
    const hosted: RedisClient = {
      call: (command, args) =>
        command === 'CONFIG' ? Promise.reject(new Error('ERR unknown command CONFIG')) : redis.io.call(command, args),
    }
    await (await store(hosted).open('s', { agentId: 'a' })).close()
  })

  it('tells what to do if nothing listens, without the address', async () => {
    const path = `${redis.socket}-secret`
    const io = new Redis({ path, maxRetriesPerRequest: 0, retryStrategy: () => null })
    io.on('error', () => undefined)
    const clients = [io, createClient({ socket: { path, tls: false } })]
    for (const client of clients) {
      const failure: unknown = await redisSessionStore({ client })
        .list()
        .catch((error: unknown) => error)
      expect(SessionError.isInstance(failure) && [failure.code, failure.message]).toEqual([
        'io',
        'The list of sessions: cannot connect to Redis. Check that it runs, and the address of the client.',
      ])
    }
  })
})

describe('redisSessionStore', () => {
  const secret = 'redis://phi:secret@db'
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'quota', 'OOM'],
    [
      "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.",
      'quota',
      'OOM',
    ],
    ["READONLY You can't write against a read only replica.", 'io', 'primary'],
    ['LOADING Redis is loading the dataset in memory', 'io', 'Retry'],
    ['MISCONF Redis is configured to save RDB snapshots', 'io', 'disk'],
    ['NOAUTH Authentication required.', 'io', 'password'],
    ["NOPERM User phi has no permissions to run the 'evalsha' command", 'io', 'Allow'],
    ['MOVED 3999 127.0.0.1:6381', 'io', 'clusters'],
    ['ERR something else', 'io', 'code ERR'],
    ['Socket closed unexpectedly', 'io', 'no response'],
  ])('maps the failure %s to %s', async (text, code, advice) => {
    const client = { sendCommand: () => Promise.reject(new Error(`${text} ${secret}`)) }
    const failure: unknown = await redisSessionStore({ client })
      .tail('s')
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'SessionError', code, message: expect.stringContaining(advice) })
    expect(String(failure)).not.toContain('secret')
  })
})

import { describe, expect, it } from 'vitest'
import { type RedisClient, redisSessionStore } from '../../../adapters/redis/index.ts'
import { Agent, type SessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { scopedSessionStore } from '../../../src/session.ts'
import { sessionStoreSuite } from '../../../testing/index.ts'
import { note, notesIn, sampleSession } from '../../../testing/session-store/session-samples.ts'
import { onRedis } from './on-redis.ts'

onRedis('sessions in Redis', (redis) => {
  let tenants = 0
  let tenant = ''
  const another = () => redisSessionStore({ client: redis.io, tenant })
  const create = () => {
    tenant = `tenant ${++tenants}`
    return redisSessionStore({ client: redis.client, tenant })
  }
  const keyOf = (kind: string) => `{phi:${encodeURIComponent(tenant)}}:${kind}`
  const damage = async (sessionId: string, how: (lines: string[]) => string[]) => {
    const key = keyOf(`records:${sessionId}`)
    const entries = await redis.io.xrange(key, '-', '+')
    const epochs = entries.map(([id]) => id.split('-')[0])
    await redis.io.del(key)
    for (const [at, line] of how(entries.map(([, [, text = '']]) => text)).entries())
      await redis.io.xadd(key, `${epochs[at] ?? epochs.at(-1)}-${at + 1}`, 'line', line)
  }

  sessionStoreSuite({ describe, it, expect }, { name: 'redis and ioredis', create, another, damage })

  /** A client that counts commands and texts of replies, and the most texts of one reply. */
  function counting() {
    const counts = { commands: 0, texts: 0, most: 0 }
    const countTexts = (reply: unknown): number => (Array.isArray(reply) ? reply.reduce((sum, each) => sum + countTexts(each), 0) : 1)
    const client: RedisClient = {
      call: async (command, args) => {
        counts.commands += 1
        const reply = await redis.io.call(command, args)
        counts.texts += countTexts(reply)
        counts.most = Math.max(counts.most, countTexts(reply))
        return reply
      },
    }
    return { client, counts }
  }

  async function write(store: SessionStore, sessionId: string, notes: readonly (string | number)[], perAppend = 300): Promise<void> {
    const writer = await store.open(sessionId, { agentId: 'a' })
    for (let from = 0; from < notes.length; from += perAppend) await writer.append(notes.slice(from, from + perAppend).map(note))
    await writer.close()
  }

  it('reads a log of thousands of records in batches', async () => {
    const store = create()
    const all = Array.from({ length: 2100 }, (_, at) => at)
    await write(store, 's', all)
    const { client, counts } = counting()
    expect(notesIn((await redisSessionStore({ client, tenant }).tail('s')).records)).toEqual(all)
    expect(counts.most).toBe(501)
    const next = await store.open('s', { agentId: 'a' })
    expect(notesIn(next.records)).toEqual(all)
    await next.close()
  })

  it('bounds the size of a batch', async () => {
    const store = create()
    await write(store, 's', [...Array.from({ length: 6 }, () => 'ü😀'.repeat(100_000)), 'short'], 1)
    const sizes: number[] = []
    const client: RedisClient = {
      call: async (command, args) => {
        const reply = await redis.io.call(command, args)
        sizes.push(JSON.stringify(reply).length)
        return reply
      },
    }
    expect((await redisSessionStore({ client, tenant }).tail('s')).records).toHaveLength(7)
    expect(sizes.length).toBeGreaterThan(2)
    expect(Math.max(...sizes)).toBeLessThan(1_100_000)
  })

  it("reads only the end of a long log and only the owner's sessions", async () => {
    const store = create()
    for (let round = 0; round < 3; round += 1) await write(store, 'long', Array(1200).fill('x'))
    const { client, counts } = counting()
    const counted = redisSessionStore({ client, tenant })
    const { records } = await counted.tail('long', { last: 20 })
    expect(records.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => 3581 + at))
    // Where the log ends, that no batch follows, and the lines.
    expect([counts.commands, counts.texts]).toEqual([2, 22])
    for (const owner of ['ada', 'bob']) for (let at = 0; at < 30; at += 1) await write(scopedSessionStore(store, owner), `s${at}`, ['x'])
    counts.texts = 0
    const { sessions, nextCursor } = await scopedSessionStore(counted, 'ada').list({ limit: 5 })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['s29', 's28', 's27', 's26', 's25'])
    expect([counts.texts, nextCursor === undefined]).toEqual([6 * 5, false])
  })

  it('sends one command per append', async () => {
    create()
    const { client, counts } = counting()
    const writer = await redisSessionStore({ client, tenant }).open('s', { agentId: 'a' })
    await writer.append([note('first')])
    // After the first append, the writer deletes unused media.
    await writer.append([note('second')])
    counts.commands = 0
    for (let at = 0; at < 5; at += 1) await writer.append([note(at)])
    expect(counts.commands).toBe(5)
    await writer.close()
  })

  it('finds sessions by status, agent and prefix among thousands, page by page', async () => {
    const store = create()
    const pipeline = redis.io.pipeline()
    const ids: string[] = []
    for (let at = 0; at < 2500; at += 1) {
      const id = `${at % 500 === 7 ? 'rare' : 'common'}-${at}`
      // Many at the same time.
      const [time, status] = [1000 + Math.floor(at / 40), at % 1000 === 7 ? 'running' : 'idle']
      const digest = JSON.stringify({ loops: 1, messages: 2, status })
      pipeline.hset(keyOf(`session:${id}`), { epoch: 1, claimant: 'a', agentId: id.slice(0, 4), createdAt: 1, status, digest })
      pipeline.zadd(keyOf('sessions'), time, id)
      if (status === 'running') pipeline.zadd(keyOf('status:running'), time, id)
      ids.push(id)
    }
    await pipeline.exec()
    const idsOf = async (options: Parameters<SessionStore['list']>[0]) =>
      (await store.list(options)).sessions.map(({ sessionId }) => sessionId)
    expect(await idsOf({ status: 'running' })).toEqual(['rare-2007', 'rare-1007', 'rare-7'])
    expect(await idsOf({ agentId: 'rare' })).toEqual(['rare-2007', 'rare-1507', 'rare-1007', 'rare-507', 'rare-7'])
    expect(await idsOf({ idPrefix: 'rare-1', limit: 1 })).toEqual(['rare-1507'])
    const { client, counts } = counting()
    await redisSessionStore({ client, tenant }).list({ status: 'running' })
    expect([counts.commands, counts.texts]).toEqual([1, 15])
    const paged: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await store.list({ limit: 333, ...(cursor !== '' && { cursor }) })
      paged.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
    }
    expect(paged).toHaveLength(2500)
    expect(paged.toSorted()).toEqual(ids.toSorted())
    expect((await store.listIds()).toSorted()).toEqual(ids.toSorted())
  })

  it('isolates the sessions of different tenants and prefixes', async () => {
    const store = create()
    await write(store, 's', ['mine'])
    const { client } = redis
    const others = [{ tenant: 'somebody else' }, { tenant: `${tenant}}:x` }, {}, { prefix: 'other', tenant }]
    for (const options of others) {
      const other = redisSessionStore({ client, ...options })
      expect((await other.list()).sessions).toEqual([])
      await expect(other.tail('s')).rejects.toMatchObject({ code: 'notFound' })
      expect(await other.delete('s')).toBe(false)
    }
    expect(notesIn((await store.tail('s')).records)).toEqual(['mine'])
  })

  it('keeps the time of the first record, and deletes the records that a saved session replaces', async () => {
    const store = create()
    await store.save(sampleSession('s', 'first'))
    await redis.io.hset(keyOf('session:s'), 'createdAt', '5')
    const length = await redis.io.xlen(keyOf('records:s'))
    await store.save(sampleSession('s', 'second'))
    expect(await redis.io.xlen(keyOf('records:s'))).toBe(length)
    expect((await store.list()).sessions).toMatchObject([{ sessionId: 's', createdAt: 5 }])
  })

  it('leaves nothing behind after a deletion and an unused claim', async () => {
    const store = create()
    const agent = new Agent({ model: scripted([{ text: 'Hello.' }]), session: store, sessionId: `user-${'a'.repeat(40)}` })
    const file = { type: 'file' as const, mimeType: 'text/plain', data: btoa('x'.repeat(100_000)) }
    await agent.prompt({ role: 'user', content: [file] }).result
    await agent.close()
    expect((await redis.io.keys(keyOf('*'))).length).toBe(6)
    await (await store.open('unused', { agentId: 'a' })).close()
    expect(await store.delete(`user-${'a'.repeat(40)}`)).toBe(true)
    expect(await redis.io.keys(keyOf('*'))).toEqual([keyOf('epochs')])
  })

  it('acknowledges at most one writer during repeated takeovers', async () => {
    const store = create()
    const writers = await Promise.all(Array.from({ length: 8 }, () => store.open('s', { agentId: 'a' })))
    const written = await Promise.allSettled(writers.map((writer, at) => writer.append([note(at)])))
    const acknowledged = written.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []))
    expect(acknowledged.length).toBeLessThanOrEqual(1)
    const last = await store.open('s', { agentId: 'a' })
    expect(notesIn(last.records)).toEqual(acknowledged)
    for (const writer of [...writers, last]) await writer.close()
  })

  it('never repeats an epoch, even if the session or all data are deleted', async () => {
    const store = create()
    const older = await store.open('s', { agentId: 'a' })
    await older.append([note('old')])
    await store.delete('s')
    const next = await store.open('s', { agentId: 'a' })
    await next.append([note('new')])
    await expect(older.append([note('late')])).rejects.toMatchObject({ code: 'conflict' })
    await redis.io.flushall()
    const last = await store.open('s', { agentId: 'a' })
    expect([older.epoch < next.epoch, next.epoch < last.epoch]).toEqual([true, true])
    await expect(next.append([note('late')])).rejects.toMatchObject({ code: 'conflict' })
    for (const writer of [older, next, last]) await writer.close()
  })

  it('stores a record once if the client sends each command again', async () => {
    create()
    const client: RedisClient = {
      call: async (command, args) => {
        await redis.io.call(command, args)
        return redis.io.call(command, args)
      },
    }
    const store = redisSessionStore({ client, tenant })
    await write(store, 's', ['one', 'two', 'three'], 1)
    await write(store, 's', ['four'])
    expect(notesIn((await another().tail('s')).records)).toEqual(['one', 'two', 'three', 'four'])
  })

  it('sends scripts again after the server has lost them', async () => {
    const store = create()
    await write(store, 's', ['one'])
    await redis.io.script('FLUSH')
    await write(store, 's', ['two'])
    expect(notesIn((await store.tail('s')).records)).toEqual(['one', 'two'])
  })
})

import { describe, expect, it } from 'vitest'
import { RedisConnection } from '../../../adapters/redis/redis-connection.ts'
import { redisLogDriver } from '../../../adapters/redis/redis-log-driver.ts'
import type { BlobDriver, LogDriver } from '../../../src/session.ts'
import { onRedis } from './on-redis.ts'

onRedis('the log driver of Redis', (redis) => {
  let drivers = 0
  function create(): { driver: LogDriver; blobs: BlobDriver; prefix: string } {
    const prefix = `{driver-${++drivers}}`
    const driver = redisLogDriver({ connection: new RedisConnection(redis.io, 30_000), prefix, survives: 'crash' })
    if (driver.blobs === undefined) throw new Error('The driver stores no media.')
    return { driver, blobs: driver.blobs, prefix }
  }
  const hash = (digit: string) => digit.repeat(64)
  const bytes = (...values: number[]) => new Uint8Array(values)
  const line = (epoch: number, seq: number) => ({ epoch, seq, text: `${seq} of ${epoch}` })

  describe('media', () => {
    it('returns the newest bytes of a hash, and those of an older epoch until they are discarded', async () => {
      const { driver, blobs, prefix } = create()
      const first = await driver.claim('s', 'a')
      await driver.append(first, [line(first.epoch, 1)])
      await blobs.put(first, hash('a'), bytes(1))
      const second = await driver.claim('s', 'a')
      await blobs.put(second, hash('a'), bytes(2, 0, 255))
      expect(await blobs.get('s', hash('a'))).toEqual(bytes(2, 0, 255))
      // Redis returns fields in any order.
      await redis.io.hset(`${prefix}:media:s`, `${hash('a')}:1`, 'AA==')
      expect(await blobs.get('s', hash('a'))).toEqual(bytes(2, 0, 255))
      await driver.discardOlder?.(second)
      expect(await redis.io.hkeys(`${prefix}:media:s`)).toEqual([`${hash('a')}:${second.epoch}`])
      expect(await blobs.get('s', hash('b'))).toBeUndefined()
    })

    it('deletes unused bytes of older epochs only', async () => {
      const { driver, blobs } = create()
      const first = await driver.claim('s', 'a')
      for (const digit of ['a', 'b']) await blobs.put(first, hash(digit), bytes(1))
      await driver.append(first, [line(first.epoch, 1)])
      const second = await driver.claim('s', 'a')
      await blobs.put(second, hash('c'), bytes(2))
      await blobs.keep(second, new Set([hash('a')]))
      expect(await Promise.all(['a', 'b', 'c'].map((digit) => blobs.get('s', hash(digit))))).toEqual([bytes(1), undefined, bytes(2)])
    })

    it('refuses an older writer, and lets it delete nothing', async () => {
      const { driver, blobs } = create()
      const older = await driver.claim('s', 'a')
      await blobs.put(older, hash('a'), bytes(1))
      await driver.append(older, [line(older.epoch, 1)])
      const middle = await driver.claim('s', 'a')
      await driver.claim('s', 'b')
      await expect(blobs.put(middle, hash('b'), bytes(2))).rejects.toMatchObject({ code: 'conflict' })
      await blobs.keep(middle, new Set())
      await driver.discardOlder?.(middle)
      await driver.release(middle)
      expect([await blobs.get('s', hash('a')), await blobs.get('s', hash('b'))]).toEqual([bytes(1), undefined])
      expect(await driver.read('s', 0)).toEqual([`1 of ${older.epoch}`])
    })
  })

  it('gives a claim the lines of older epochs only', async () => {
    const { driver } = create()
    const writer = await driver.claim('s', 'a')
    const seqs = Array.from({ length: 700 }, (_, at) => at + 1)
    await driver.append(
      writer,
      seqs.map((seq) => line(writer.epoch, seq)),
    )
    const reader = await driver.claim('s', 'a')
    const newer = await driver.claim('s', 'a')
    await driver.append(newer, [line(newer.epoch, 701)])
    const lines = [...reader.lines]
    for await (const batch of reader.more ?? []) lines.push(...batch)
    expect(lines).toEqual(seqs.map((seq) => `${seq} of ${writer.epoch}`))
  })

  it('reads the lines after a cursor in each epoch', async () => {
    const { driver } = create()
    const expected: string[] = []
    for (let round = 0; round < 30; round += 1) {
      const claim = await driver.claim('s', 'a')
      const seqs = round % 3 === 0 ? [1, 2] : [9, 10, 11, 12]
      await driver.append(
        claim,
        seqs.map((seq) => line(claim.epoch, seq)),
      )
      if (round % 3 !== 0) expected.push(`11 of ${claim.epoch}`, `12 of ${claim.epoch}`)
      await driver.release(claim)
    }
    expect(await driver.read('s', 10)).toEqual(expected)
    expect(await driver.read('s', 12)).toEqual([])
    expect(await driver.lastSeq?.('s')).toBe(12)
    expect(await driver.lastSeq?.('unknown')).toBeUndefined()
  })

  it('continues a list after a session that has moved or is deleted, without skipping others of its time', async () => {
    const { driver, prefix } = create()
    for (const id of ['a', 'b', 'c', 'd']) {
      const claim = await driver.claim(id, 'a')
      await driver.append(claim, [line(claim.epoch, 1)])
      await redis.io.zadd(`${prefix}:sessions`, id === 'a' ? 1000 : 2000, id)
    }
    const idsAfter = async (sessionId: string) =>
      (await driver.list({ after: { lastActiveAt: 2000, sessionId } })).map((summary) => summary.sessionId)
    expect(await idsAfter('c')).toEqual(['b', 'a'])
    await driver.delete('c')
    expect(await idsAfter('c')).toEqual(['d', 'b', 'a'])
    await redis.io.zadd(`${prefix}:sessions`, 3000, 'd')
    expect(await idsAfter('d')).toEqual(['b', 'a'])
  })
})

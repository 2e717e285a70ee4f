import { describe, expect, it } from 'vitest'
import { redisSessionStore } from '../../../adapters/redis/index.ts'
import type { SessionStore } from '../../../src/index.ts'
import { SessionError, type SessionWriter } from '../../../src/session.ts'
import { note, notesIn } from '../../../testing/session-store/session-samples.ts'
import { runs } from '../../support/runs.ts'
import { killLoop, raceWriters } from '../node/session/kill-loop.ts'
import { onRedis } from './on-redis.ts'
import { redisProgram } from './server.ts'

describe.skipIf(redisProgram() === undefined)('sessions in Redis with writers killed at any time', () => {
  it('keeps every acknowledged record after each kill', async () => {
    const points = runs(15, 200)
    const { kills, acknowledged, faults } = await killLoop('redis', points)
    expect(faults).toEqual([])
    expect(kills).toBe(points)
    expect(acknowledged).toBeGreaterThan(points)
  })

  it('keeps all records when eight writers crash and take over from each other', async () => {
    const records = runs(10, 100)
    const { acknowledged, faults } = await raceWriters('redis', 8, records)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThanOrEqual(8 * records)
  })
})

onRedis('sessions in a Redis that is killed', (redis) => {
  /** Appends numbers until the server is gone, and returns those that were acknowledged. */
  async function appendUntilKilled(writer: SessionWriter, from: number, isKilled: () => boolean): Promise<number[]> {
    const acknowledged: number[] = []
    try {
      for (let number = from; !isKilled(); number += 1) {
        await writer.append([note(number)])
        acknowledged.push(number)
      }
    } catch (error) {
      if (!SessionError.isInstance(error)) throw error
    }
    await writer.close().catch(() => undefined)
    return acknowledged
  }

  async function numbersIn(store: SessionStore): Promise<number[]> {
    return notesIn((await store.tail('s')).records).map(Number)
  }

  it('keeps every acknowledged record, in order and once', async () => {
    const kills = runs(8, 200)
    const store = redisSessionStore({ client: redis.io, survives: 'powerCut' })
    expect(store.promises.survives).toBe('powerCut')
    const acknowledged: number[] = []
    for (let kill = 0; kill < kills; kill += 1) {
      let isKilled = false
      const writer = await store.open('s', { agentId: 'a' })
      const appended = appendUntilKilled(writer, kill * 1_000_000, () => isKilled)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40))
      await redis.crash()
      isKilled = true
      acknowledged.push(...(await appended))
      const stored = await numbersIn(store)
      expect(stored).toEqual(stored.toSorted((a, b) => a - b))
      expect(new Set(stored).size).toBe(stored.length)
      const found = new Set(stored)
      expect(acknowledged.filter((number) => !found.has(number))).toEqual([])
    }
    expect(acknowledged.length).toBeGreaterThan(kills)
  })
})

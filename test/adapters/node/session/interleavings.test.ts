import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { logSessionStore } from '../../../../src/session/index.ts'
import { InterleavedDisk } from './interleaved-disk.ts'

const seeds = 150

/** Always the same numbers between 0 and 1 for one seed. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32
  }
}

/** Records long enough that a claim after them finds a snapshot due. */
const long = '.'.repeat(70_000)

interface World {
  disk: InterleavedDisk
  random: () => number
  /** Texts that were acknowledged, each by one process, in its order. */
  acknowledged: string[][]
}

function storeOf(disk: InterleavedDisk, process: string): SessionStore {
  return logSessionStore(fileDriver('/sessions', disk.operations(process)))
}

/** A process that opens the session again and again, and is refused, killed, or done. */
async function writer({ disk, random, acknowledged }: World, process: string): Promise<void> {
  const mine: string[] = []
  acknowledged.push(mine)
  const store = storeOf(disk, process)
  for (let round = 0; round < 3; round += 1) {
    const session = await store.open('s1', { agentId: 'a' })
    const records = 1 + Math.floor(random() * 3)
    for (let count = 0; count < records; count += 1) {
      const id = `${process}.${round}.${count}`
      const content = [{ type: 'text' as const, text: random() < 0.3 ? long : '' }]
      const appending = session.append([{ entry: { type: 'input', message: { role: 'user', id, content, timestamp: 1 } } }])
      const isAcknowledged = await appending.then(
        () => true,
        () => false,
      )
      if (!isAcknowledged) break
      mine.push(id)
    }
    await session.close()
  }
}

/** Runs `processes` of one world at once; some are killed on the way. */
async function play(world: World, processes: Record<string, () => Promise<unknown>>): Promise<void> {
  const running = Object.entries(processes).map(([name, start]) => {
    const isKilled = world.random() < 0.3
    const moment = Math.floor(world.random() * 300)
    const killed = async () => {
      for (let step = 0; step < moment; step += 1) await new Promise((resolve) => setImmediate(resolve))
      world.disk.kill(name)
    }
    return isKilled ? Promise.race([start(), killed()]) : start()
  })
  await world.disk.run(Promise.all(running))
}

/** The ids of the records that are stored, after checking that they are numbered without a gap. */
async function stored({ disk }: World): Promise<string[]> {
  let ids: string[] = []
  const read = async () => {
    const tail = await storeOf(disk, 'reader').tail('s1')
    expect(tail.records.map(({ seq }) => seq)).toEqual(tail.records.map((_, index) => index + 1))
    ids = tail.records.flatMap(({ entry }) => (entry.type === 'input' ? [entry.message.id] : []))
  }
  await disk.run(
    read().catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'notFound' })
    }),
  )
  return ids
}

function worldOf(seed: number): World {
  const random = randomOf(seed)
  return { random, disk: new InterleavedDisk(random), acknowledged: [] }
}

describe('writers of the file store, their operations in any order', () => {
  it('lose no acknowledged record, whoever claims, takes a snapshot or is killed meanwhile', { timeout: 60_000 }, async () => {
    let snapshots = 0
    let kept = 0
    for (let seed = 1; seed <= seeds; seed += 1) {
      const world = worldOf(seed)
      await play(world, { p: () => writer(world, 'p'), q: () => writer(world, 'q'), r: () => writer(world, 'r') })
      const ids = await stored(world)
      for (const mine of world.acknowledged)
        expect(
          ids.filter((id) => mine.includes(id)),
          `seed ${seed}`,
        ).toEqual(mine)
      snapshots += [...world.disk.files.keys()].some((path) => path.includes('snapshot')) ? 1 : 0
      kept += ids.length
    }
    expect(snapshots).toBeGreaterThan(seeds / 4)
    expect(kept).toBeGreaterThan(seeds)
  })

  it('leave nothing of a session that was deleted meanwhile, and lose nothing of what comes after', { timeout: 60_000 }, async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const world = worldOf(seed)
      const before = await beforeAndAfter(world)
      const ids = await stored(world)
      for (const id of before) expect(ids, `seed ${seed}`).not.toContain(id)
      for (const mine of world.acknowledged)
        expect(
          ids.filter((id) => mine.includes(id)),
          `seed ${seed}`,
        ).toEqual(mine)
    }
  })
})

/** Writers, a deletion among them, and a writer after that. Leaves in `acknowledged` what came after; gives what came before. */
async function beforeAndAfter(world: World): Promise<string[]> {
  await play(world, { p: () => writer(world, 'p') })
  const before = world.acknowledged.flat()
  world.acknowledged = []
  await world.disk.run(Promise.all([writer(world, 'q'), writer(world, 'r'), storeOf(world.disk, 'd').delete('s1')]))
  // What was acknowledged around the deletion may have been deleted with the rest.
  world.acknowledged = []
  await world.disk.run(writer(world, 't'))
  return before
}

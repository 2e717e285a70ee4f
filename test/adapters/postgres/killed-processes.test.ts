import { expect, it } from 'vitest'
import { seededRandom } from '../../../src/testing/fault-fetch.ts'
import { patient } from '../../support/patience.ts'
import { runs } from '../../support/runs.ts'
import { expectCompleted, expectWhole, killedClusters, shown } from './killed-cluster.ts'
import { onPostgres } from './on-postgres.ts'

/** Only ends what hangs, on a machine that does ten other things. */
const timeout = 3 * patient.timeout
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

onPostgres('processes over PostgreSQL that are killed', (database) => {
  const { cluster, endsOf } = killedClusters(database)

  const load = runs(25, 50)

  it(`restarts three of them one after the other under a load of ${load} runs: none is lost, and nothing is paid twice`, {
    timeout,
  }, async () => {
    // None of them is killed: where a busy machine lets one stand still, it loses nothing.
    const three = await cluster(3, { LEASE_MS: '30000' })
    const begun = Array.from({ length: (2 * load) / 5 }, (_, number) => three.begin(number))
    for (const at of [0, 1, 2]) {
      const more = Array.from({ length: load / 5 }, (_, number) => three.begin(20 + 10 * at + number))
      begun.push(...more)
      await Promise.all(more.map(({ isOn }) => isOn))
      await three.replace(at, 'SIGTERM')
    }
    const results = await Promise.all(begun.map(({ result }) => result))
    expect(results.map(shown)).toEqual(Array(load).fill('completed all done'))
    for (const { sessionId, seen } of begun) {
      await expect.poll(() => endsOf(sessionId)).toEqual(['completed'])
      expectWhole(seen, await three.history(sessionId))
    }
    expect([three.paid().length, new Set(three.paid()).size]).toEqual([6 * load, 6 * load])
  })

  // 3 times 5 are 15, and 3 times 334 times 5 are 5,010.
  const rounds = runs(1, 334)
  const size = 5

  it.each<[way: string, env: Record<string, string>]>([
    ['notifications', { LISTEN: 'yes', TURNS: '4' }],
    ['polling', { LISTEN: 'no', TURNS: '4' }],
    ['HTTP', { LISTEN: 'yes', PEERS: 'yes', TURNS: '4' }],
  ])(
    `lose no run and no event when ${rounds * size} of them are killed (%s)`,
    { timeout: timeout * Math.ceil(rounds / 14) },
    async (_, env) => {
      const random = seededRandom(7)
      // So long that those which live keep theirs on a busy machine: who is cut off a fourth time is not taken up again.
      const five = await cluster(size, { LEASE_MS: '4000', ...env })
      let fresh = five.hosts.map(() => five.start())
      for (let round = 0; round < rounds; round++) {
        // A busy machine starts them seconds apart. Kills that far apart miss the runs, or cut one off until its fourth attempt is refused.
        await Promise.all(fresh.map(({ url }) => url))
        const begun = Array.from({ length: size }, (_, number) => five.begin(round * size + number))
        await Promise.all(begun.map(({ isOn }) => isOn))
        const killed = fresh.map(async (next, at) => {
          await wait(random() * 200)
          await five.replace(at, 'SIGKILL', next)
        })
        await Promise.all(killed)
        // While the leases of the others run out.
        fresh = round + 1 < rounds ? five.hosts.map(() => five.start()) : []
        const results = await Promise.all(begun.map(({ result }) => result))
        expect(results.map(shown)).toEqual(Array(size).fill('completed all done'))
        for (const { sessionId, seen, said } of begun) {
          await expect.poll(async () => (await endsOf(sessionId)).at(-1)).toBe('completed')
          expectCompleted(await endsOf(sessionId), said)
          expectWhole(seen, await five.history(sessionId))
        }
      }
      expect(new Set(five.paid()).size).toBe(five.paid().length)
    },
  )

  const crashes = runs(5, 200)

  it(`go on when the database crashes ${crashes} times in the middle of runs`, { timeout: timeout * Math.ceil(crashes / 20) }, async () => {
    const random = seededRandom(9)
    const three = await cluster(3)
    for (let round = 0; round < crashes; round++) {
      const begun = Array.from({ length: 4 }, (_, number) => three.begin(round * 4 + number))
      await Promise.all(begun.map(({ isOn }) => isOn))
      await wait(random() * 100)
      await database.crash()
      for (const { sessionId } of begun) await expect.poll(async () => (await endsOf(sessionId)).at(-1)).toBe('completed')
      await Promise.all(begun.map(({ result }) => result))
    }
    expect(new Set(three.paid()).size).toBe(three.paid().length)
  })
})

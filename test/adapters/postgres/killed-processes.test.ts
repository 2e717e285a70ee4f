import { expect, it } from 'vitest'
import { runs } from '../../support/runs.ts'
import { expectWhole, killedClusters, killTimeout, losesNothing, shown } from './killed-cluster.ts'
import { onPostgres } from './on-postgres.ts'

// `killed-ways.test.ts` kills the same processes over polling and HTTP, and the database.

onPostgres('processes over PostgreSQL that are killed', (database) => {
  const clusters = killedClusters(database)
  const { cluster, endsOf } = clusters

  const load = runs(25, 50)

  it(`restarts three processes in turn under ${load} runs without lost runs or double payments`, {
    timeout: killTimeout,
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

  losesNothing(clusters, 'notifications', { LISTEN: 'yes', TURNS: '4' })
})

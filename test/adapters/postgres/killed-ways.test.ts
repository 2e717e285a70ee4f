import { expect, it } from 'vitest'
import { seededRandom } from '../../../testing/fault-fetch.ts'
import { runs } from '../../support/runs.ts'
import { killedClusters, killTimeout, losesNothing, wait } from './killed-cluster.ts'
import { onPostgres } from './on-postgres.ts'

onPostgres('processes on PostgreSQL across database crashes', (database) => {
  const clusters = killedClusters(database)
  const { cluster, endsOf } = clusters

  losesNothing(clusters, 'polling', { LISTEN: 'no', TURNS: '4' })
  losesNothing(clusters, 'HTTP', { LISTEN: 'yes', PEERS: 'yes', TURNS: '4' })

  const crashes = runs(5, 200)

  it(`continues although the database crashes ${crashes} times during runs`, {
    timeout: killTimeout * Math.ceil(crashes / 20),
  }, async () => {
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

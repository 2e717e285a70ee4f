import { afterAll, expect, it } from 'vitest'
import { seededRandom } from '../../../../testing/fault-fetch.ts'
import { runs } from '../../../support/runs.ts'
import { wholeVersion } from '../../../support/session-versions.ts'
import { killableWorker } from '../../../workers/killable-worker.ts'
import { lastAcknowledged } from './last-acknowledged.ts'

const writers = await killableWorker('test/workers/kill-target.ts', { SESSIONS: 'SessionObject', INDEX: 'IndexObject' })
afterAll(() => writers.close())

it('keeps one complete imported session when workerd crashes during imports', async () => {
  const random = seededRandom(11)
  let url = await writers.start()
  let version = 0
  for (let kill = 0; kill < runs(6, 200); kill++) {
    const response = await fetch(`${url}/import?session=imported&from=${version + 1}`)
    const acknowledged = await lastAcknowledged(response, 1 + Math.floor(random() * 4))
    await writers.kill()
    url = await writers.start()
    const found: { versions: number[] } = await (await fetch(`${url}/versions?session=imported`)).json()
    version = found.versions[0] ?? 0
    expect(found).toEqual({ versions: wholeVersion(version) })
    expect(version).toBeGreaterThanOrEqual(acknowledged)
  }
})

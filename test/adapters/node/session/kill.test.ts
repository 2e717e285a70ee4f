import { describe, expect, it } from 'vitest'
import { runs } from '../../../support/runs.ts'
import { killLoop, raceWriters } from './kill-loop.ts'

describe.each(['files', 'sqlite'] as const)('a store on a disk with processes killed at any time: %s', (kind) => {
  const points = runs(15, kind === 'files' ? 1000 : 200)

  it('keeps every acknowledged record after each kill', async () => {
    const { kills, acknowledged, faults } = await killLoop(kind, points)
    expect(faults).toEqual([])
    expect(kills).toBe(points)
    expect(acknowledged).toBeGreaterThan(points)
  })

  it('keeps all records when eight writers crash and take over from each other', async () => {
    const records = runs(10, 100)
    const { acknowledged, faults } = await raceWriters(kind, 8, records)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThanOrEqual(8 * records)
  })
})

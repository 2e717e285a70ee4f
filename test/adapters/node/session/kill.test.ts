import { describe, expect, it } from 'vitest'
import { runs } from '../../../support/runs.ts'
import { killLoop, raceWriters } from './kill-loop.ts'

describe('the file store with processes that crash at any time', () => {
  const points = runs(15, 1000)

  it('has every acknowledged record after each kill', async () => {
    const { kills, acknowledged, faults } = await killLoop(points)
    expect(faults).toEqual([])
    expect(kills).toBe(points)
    expect(acknowledged).toBeGreaterThan(points)
  })

  it('keeps all records when eight writers take over from each other with crashes', async () => {
    const records = runs(10, 100)
    const { acknowledged, faults } = await raceWriters(8, records)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThanOrEqual(8 * records)
  })
})

import { describe, expect, it } from 'vitest'
import { runs } from '../../../support/runs.ts'
import { killLoop, raceWriters } from './kill-loop.ts'

describe('the file store and processes that end at any moment', () => {
  const points = runs(15, 1000)

  it('has every acknowledged record after each kill', async () => {
    const { kills, acknowledged, faults } = await killLoop(points)
    expect(faults).toEqual([])
    expect(kills).toBe(points)
    expect(acknowledged).toBeGreaterThan(points)
  })

  it('loses nothing when eight writers take a session from each other, while others are killed', async () => {
    const records = runs(10, 100)
    const { acknowledged, faults } = await raceWriters(8, records)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThanOrEqual(8 * records)
  })
})

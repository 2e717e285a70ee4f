import { describe, expect, it } from 'vitest'
import { killLoop, raceWriters } from './kill-loop.ts'

describe('the file store and processes that end at any moment', () => {
  it('has every acknowledged record after each of 200 kills', { timeout: 120_000 }, async () => {
    const { kills, acknowledged, faults } = await killLoop(200)
    expect(faults).toEqual([])
    expect(kills).toBe(200)
    expect(acknowledged).toBeGreaterThan(200)
  })

  it('loses nothing when eight writers take a session from each other, while others are killed', { timeout: 120_000 }, async () => {
    const { acknowledged, faults } = await raceWriters(8, 25)
    expect(faults).toEqual([])
    expect(acknowledged).toBeGreaterThanOrEqual(200)
  })
})

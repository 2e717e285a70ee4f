import { describe, expect, it } from 'vitest'
import { isSoak, runs } from '../../support/runs.ts'
import { lossesOf, lossesOfJournals, lossesOfMedia, lossesOfSaves } from './crash-run.ts'
import { flaws } from './seeded-flaws.ts'

const seeds = runs(300, 10_000)
const minute = 60_000

/** The first seed at which something is lost, and what. */
async function firstLoss(count: number, run: (seed: number) => Promise<string[]>, from = 1): Promise<string | undefined> {
  for (let seed = from; seed < from + count; seed++) {
    const losses = await run(seed)
    if (losses.length > 0) return `seed ${seed}: ${losses.slice(0, 3).join(', ')}`
  }
  return undefined
}

describe('the file driver under simulated power cuts', () => {
  it(
    `loses no acknowledged record in ${seeds} runs with up to three power cuts and process kills`,
    async () => {
      expect(await firstLoss(seeds, lossesOf)).toBe(undefined)
    },
    10 * minute,
  )

  it(
    'loses no record acknowledged in one group with others',
    async () => {
      expect(await firstLoss(seeds, lossesOfJournals)).toBe(undefined)
    },
    10 * minute,
  )

  it(
    'preserves the bytes of every acknowledged record',
    async () => {
      expect(await firstLoss(runs(15, 3300), lossesOfMedia)).toBe(undefined)
    },
    10 * minute,
  )

  it(
    'keeps either the old or the new session after an interrupted save',
    async () => {
      expect(await firstLoss(seeds / 5, lossesOfSaves)).toBe(undefined)
    },
    10 * minute,
  )
})

/** Where mistakes that cost little were found last: `npm test` begins there, `npm run soak` at the first seed. */
const lastFound: Readonly<Record<string, { records: number; journals: number }>> = {
  'newer writers are looked for before the append': { records: 11, journals: 154 },
  'older logs are read before the epoch is created': { records: 358, journals: 461 },
  'an epoch may be created twice': { records: 10, journals: 108 },
  'logs are deleted before the name of the snapshot is durable': { records: 118, journals: 240 },
  'snapshots are not synced': { records: 53, journals: 385 },
}
const begin = (name: string, kind: 'records' | 'journals'): number => (isSoak ? 1 : (lastFound[name]?.[kind] ?? 1))

describe('the crash simulation with a faulty driver', () => {
  it.each(Object.entries(flaws))(
    'detects the fault: %s',
    async (name, flaw) => {
      const found = await firstLoss(2000, (seed) => lossesOf(seed, flaw), begin(name, 'records'))
      expect(found).toMatch(/is lost|out of order|twice/)
    },
    minute,
  )

  it.each(Object.entries(flaws))(
    'detects the fault through an agent: %s',
    async (name, flaw) => {
      const found = await firstLoss(4000, (seed) => lossesOfJournals(seed, flaw), begin(name, 'journals'))
      expect(found).toMatch(/is lost|out of order|twice/)
    },
    minute,
  )
})

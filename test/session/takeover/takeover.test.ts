import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../adapters/node/session/file-driver.ts'
import { logSessionStore, memoryDriver } from '../../../src/session.ts'
import { runs } from '../../support/runs.ts'
import { takeOver } from './interleaving.ts'
import { Turns } from './turns.ts'

const seeds = (count: number) => Array.from({ length: count }, (_, seed) => seed)

/** Each waits for the disk some hundred times. */
const onDisk = runs(12, 200)

describe('taking over a busy session', () => {
  it('lets the new owner continue in 40 interleavings in memory', async () => {
    const faults: string[] = []
    let told = 0
    for (const seed of seeds(40)) {
      const turns = new Turns(seed)
      const store = logSessionStore(turns.driver(memoryDriver()))
      const outcome = await takeOver(turns, { older: store, newer: store })
      if (outcome.older.status === 'error') told += 1
      faults.push(...outcome.faults.map((fault) => `${seed}: ${fault}`))
    }
    expect(faults).toEqual([])
    expect(told).toBeGreaterThan(20)
  })

  it(`lets the new owner continue in ${onDisk} interleavings on disk`, async () => {
    const faults: string[] = []
    let told = 0
    for (const seed of seeds(onDisk)) {
      const directory = await mkdtemp(join(tmpdir(), 'phi-takeover-'))
      const turns = new Turns(1000 + seed)
      const [older, newer] = [0, 1].map(() => logSessionStore(turns.driver(fileDriver(directory))))
      if (older === undefined || newer === undefined) throw new RangeError('two')
      const outcome = await takeOver(turns, { older, newer }).finally(() => rm(directory, { recursive: true, force: true }))
      if (outcome.older.status === 'error') told += 1
      faults.push(...outcome.faults.map((fault) => `${seed}: ${fault}`))
    }
    expect(faults).toEqual([])
    expect(told).toBeGreaterThan(onDisk / 2)
  })
})

import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { addTool, eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'
import { runs } from '../support/runs.ts'

const retry = { maxRetries: 0, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 }

/** A different place for every seed, all over the answer; every tenth answer is whole. */
const permilleOf = (seed: number): number => (seed % 10 === 0 ? 1000 : (seed * 619) % 1000)

describe('broken connections', () => {
  // In tests of 20 seeds, so that none comes near a runner's time limit.
  for (const wire of wires) {
    for (let first = 1; first <= runs(20, 200); first += 20) {
      it(`recovers from responses of ${wire} cut at any point, seeds ${first} to ${first + 19}`, async () => {
        for (let seed = first; seed < first + 20; seed++) {
          const permille = permilleOf(seed)
          const { model, idle } = fixtureModel(wire, 'cut', permille, seed)
          const { tool, executions } = addTool()
          const events = await eventsOf(new Agent({ model, tools: [tool], retry }).prompt('What is 2 + 3?'))
          const ends = ofType(events, 'agentEnd')
          expect(ends, `seed ${seed}`).toHaveLength(1)
          expect(events.at(-1), `seed ${seed}`).toBe(ends[0])
          const isWhole = ends[0]?.status === 'completed'
          expect(executions(), `seed ${seed}: a tool runs from a whole answer only`).toBe(isWhole ? 1 : 0)
          if (permille === 1000) expect(isWhole, `seed ${seed}`).toBe(true)
          if (permille < 800) expect(ends[0]?.error?.code, `seed ${seed}`).toBe('network')
          await idle()
        }
      })
    }
  }
})

import { describe, expect, it } from 'vitest'
import { streamProviderSuite } from '../../testing/index.ts'
import { models, wires } from '../harness/fixture-model.ts'
import { providerFixture } from '../harness/provider-fixtures.ts'
import { runs } from '../support/runs.ts'

for (const wire of wires) {
  streamProviderSuite(
    { describe, expect, it },
    {
      name: `${wire} keeps every promise of a provider`,
      // No pair of AWS keys: signing thousands of calls takes a while, and stream.test.ts signs.
      create: (fetch) => models[wire]('https://fixture.test', { apiKey: 'canary-5b1f83c2', fetch }),
      fixtures: [providerFixture(wire)],
      // More places in Node, on longer responses, and every byte in soak: test/testing and test/providers.
      cuts: runs(5, Number.POSITIVE_INFINITY),
    },
  )
}

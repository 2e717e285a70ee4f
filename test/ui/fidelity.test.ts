import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventEncoder } from '../../src/client.ts'
import { agentEvent } from '../../src/contract/run/event.ts'
import { tagsOf } from '../../src/contract/shape/shape.ts'
import type { AgentEvent } from '../../src/index.ts'
import { agUiEncoder } from '../../src/ui/ag-ui.ts'
import { uiMessageEncoder } from '../../src/ui/ai-sdk.ts'
import { scenarios } from './scenarios.ts'

const page = readFileSync('docs/reference/ui-protocols.md', 'utf8')
const rows = Array.from(page.matchAll(/^\| `(\w+)` \| (.+) \| (.+) \| (.+) \|$/gm), ([, type = '', ...cells]) => ({ type, cells }))

const declaredTypes = tagsOf(agentEvent)

it('lists every event type once', () => {
  expect(declaredTypes.length).toBeGreaterThan(20)
  expect(rows.map(({ type }) => type).toSorted()).toEqual(declaredTypes.toSorted())
  for (const { type, cells } of rows) for (const cell of cells) expect(cell, type).toMatch(/^(mapped|custom|not shown)/)
})

describe('rows of the fidelity table', async () => {
  const seen = new Map<string, { aiSdk: Set<string>; agUi: Set<string> }>()
  for (const play of Object.values(scenarios)) {
    const { events, before } = await play()
    const [native, aiSdk, agUi] = [eventEncoder(), uiMessageEncoder({ history: before }), agUiEncoder({ history: before })]
    for (const event of events) {
      expect(native.encode(event) === '').toBe(event.type === 'turnRequest')
      const sent = seen.get(event.type) ?? { aiSdk: new Set(), agUi: new Set() }
      seen.set(event.type, sent)
      for (const { type } of aiSdk.encode(event)) sent.aiSdk.add(type)
      for (const each of agUi.encode(event)) {
        if (each.type !== 'CUSTOM') sent.agUi.add(each.type)
        // That branches have begun is told after what was said.
        else (each.name === 'phi.parallelLoopStart' ? seen.get('parallelLoopStart') : sent)?.agUi.add(each.name)
      }
    }
  }

  it.each(rows)('matches the encoded events: $type', ({ type, cells: [, aiSdk = '', agUi = ''] }) => {
    const sent = seen.get(type as AgentEvent['type'])
    // Notes like the others, what pages run and what they share: chats that do are in `test/adapters/http/client-tools.test.ts` and `shared-state.test.ts`.
    if (sent === undefined) {
      const others = ['data', 'prunApplied', 'revertApplied', 'turnPrepared', 'modelFallback', 'rateLimits']
      expect([...others, 'clientCallRequested', 'clientCallResolved', 'sharedStateChanged']).toContain(type)
      return
    }
    const [notes, chunks] = [
      [...sent.aiSdk].filter((chunk) => chunk.startsWith('data-')),
      [...sent.aiSdk].filter((chunk) => !chunk.startsWith('data-')),
    ]
    for (const chunk of notes) if (chunk !== 'data-phi-notice') expect(aiSdk, `${type}: ${chunk}`).toContain(`\`${chunk}\``)
    // The first of all is `start`, whatever it comes with.
    if (!aiSdk.startsWith('mapped')) expect(chunks.filter((chunk) => chunk !== 'start')).toEqual([])
    if (aiSdk.startsWith('not shown')) expect(notes).toEqual([])
    // `agentStart` is told when the first of its run is.
    const names = [...sent.agUi].filter((name) => name.startsWith('phi.') && name !== 'phi.output')
    if (type !== 'childEvent') for (const name of names) expect(agUi, `${type}: ${name}`).toContain(`\`${name}\``)
    const frames = ['RUN_STARTED', 'phi.output', 'STEP_STARTED', 'MESSAGES_SNAPSHOT']
    if (!agUi.startsWith('mapped')) expect([...sent.agUi].filter((name) => !names.includes(name) && !frames.includes(name))).toEqual([])
    if (agUi.startsWith('custom')) expect([...sent.agUi].some((name) => name.startsWith('phi.'))).toBe(true)
  })
})

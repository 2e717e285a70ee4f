import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { memorySessionStore, textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { tool } from '../../../support/play.ts'
import { type PageWorld, pageWorld, typesIn } from './page-world.ts'

const folder = await mkdtemp(join(tmpdir(), 'phi-restart-'))
afterAll(() => rm(folder, { recursive: true }))

const ask = clientTool({ name: 'ask', description: 'Asks the person', parameters: { type: 'object' } })
const stores = { memory: memorySessionStore, files: () => fileSessionStore(join(folder, crypto.randomUUID())) }
const user = { id: 'm1', role: 'user' }
const part = { type: 'tool-ask', toolCallId: 'c1', state: 'output-available', input: {}, output: 'yes' }

const sends = {
  chat: (world: PageWorld) => {
    const messages = [
      { ...user, parts: [{ type: 'text', text: 'go' }] },
      { id: 'a1', role: 'assistant', parts: [{ type: 'step-start' }, part] },
    ]
    return world.post('/chat', { id: 's', trigger: 'submit-message', messages })
  },
  agent: (world: PageWorld) => {
    const messages = [
      { ...user, content: 'go' },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'yes' },
    ]
    const shared = { threadId: 's', tools: [], context: [], state: {}, forwardedProps: {} }
    return world.post('/agui', { ...shared, runId: crypto.randomUUID(), messages })
  },
}

describe.each(Object.entries(stores))('client results that arrive after a server restart (%s)', (_name, store) => {
  it.each([
    [false, ['chat', 'chat']],
    [true, ['chat', 'chat']],
    [false, ['agent', 'agent']],
    [true, ['agent', 'chat', 'agent']],
    [false, ['chat', 'agent', 'chat']],
  ] as const)('accepts the result once and repeats no tool (recover(): %s, sent by %j)', async (recover, by) => {
    let paid = 0
    const pay = tool('pay', () => {
      paid += 1
      return 'paid'
    })
    const model = scripted(({ messages }) =>
      messages.length === 1
        ? { toolCalls: ['pay', 'ask'].map((name, at) => ({ id: `c${at}`, name, arguments: {} })) }
        : { text: messages.map(({ content }) => textOf(content)).join('|') },
    )
    const world = await pageWorld(() => ({ model, tools: [pay, ask] }), store())
    const said = { id: 's', trigger: 'submit-message', messages: [{ ...user, parts: [{ type: 'text', text: 'go' }] }] }
    await (await world.post('/chat', said)).text()
    await world.restart({ recover })
    const responses = await Promise.all(by.map((client) => sends[client](world)))
    for (const [at, response] of responses.entries()) {
      const types = await typesIn(response)
      expect([response.status, types[0], types.at(-1)]).toEqual(
        by[at] === 'chat' ? [200, 'start', 'finish'] : [200, 'RUN_STARTED', 'RUN_FINISHED'],
      )
    }
    const texts = (await world.stored()).flatMap(({ parts }) => parts.flatMap(({ text }) => text ?? []))
    expect([paid, texts]).toEqual([1, ['go', 'go||paid|yes']])
  })
})

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { Agent, type AgentMessage, defineTool, memorySessionStore, resumeAgent, type SessionStore, toolCallsOf } from '../../src/index.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { wires } from '../harness/fixture-model.ts'
import { WireServer } from '../support/wire-server.ts'
import { modelThatWrites } from '../ui/broken-arguments.ts'

const server = new WireServer()
const directory = mkdtempSync(join(tmpdir(), 'phi-repaired-'))
beforeAll(() => server.start())
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true })
})

const save = defineTool({
  name: 'save',
  description: 'Saves.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: () => 'saved',
})

// With half of a surrogate pair, and a zero, which databases refuse in a text.
const broken = '{}{"path":"a\n\tb","zero":"\\u0000",}'
const halved = `{"path":"\ud800`

/** A session whose model wrote arguments that were repaired, and others that were not. */
async function stored(store: SessionStore): Promise<readonly AgentMessage[]> {
  const agent = new Agent({
    model: modelThatWrites('save', [broken], [halved], ['{"path":"c"}']),
    tools: [save],
    session: store,
    sessionId: 's',
  })
  await agent.prompt('Save it.').result
  await agent.close()
  return agent.messages
}

function callsIn(messages: readonly AgentMessage[]) {
  return messages.flatMap((message) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))
}

describe.each<[string, () => SessionStore]>([
  ['the memory store', () => memorySessionStore()],
  ['the file store', () => fileSessionStore(mkdtempSync(join(directory, 's')))],
])('repaired arguments in %s', (_name, newStore) => {
  it('restores repaired arguments unchanged', async () => {
    const store = newStore()
    const messages = await stored(store)
    const { messages: read } = await resumeAgent(store, 's', { model: modelThatWrites('save'), tools: [save] })
    expect(callsIn(read)).toEqual(callsIn(messages))
    expect(callsIn(read)).toMatchObject([
      { arguments: { path: 'a\n\tb', zero: '\u0000' }, repairedFrom: broken },
      { arguments: {}, invalidArguments: halved },
      { arguments: { path: 'c' } },
    ])
  })

  it.each(wires)('sends repaired arguments as JSON after the session is reopened: %s', async (wire) => {
    const store = newStore()
    await stored(store)
    const { model, sent } = server.service(wire, { turn: { text: ['Done.'] } })
    const agent = await resumeAgent(store, 's', { model: model(), tools: [save] })
    expect((await agent.prompt('Again').result).status).toBe('completed')
    expect(argumentsIn(sent[0])).toEqual([{ path: 'a\n\tb', zero: '\u0000' }, {}, { path: 'c' }])
    expect(JSON.stringify(sent[0])).not.toMatch(/repairedFrom|invalidArguments|isCut/)
  })
})

it('preserves repaired arguments in serialized messages', async () => {
  const messages = await stored(memorySessionStore())
  expect(callsIn(parseMessages(serializeMessages(messages)))).toEqual(callsIn(messages))
})

/** The arguments of each call in a body, as its service reads them. */
function argumentsIn(body: unknown): unknown[] {
  const found: unknown[] = []
  JSON.stringify(body, (_name, value: unknown) => {
    const { arguments: written, input, args, name, toolUseId, id } = Object(value)
    if (name !== 'save') return value
    if (typeof written === 'string') found.push(JSON.parse(written))
    else if (args !== undefined) found.push(args)
    else if (input !== undefined && (toolUseId ?? id) !== undefined) found.push(input)
    return value
  })
  return found
}

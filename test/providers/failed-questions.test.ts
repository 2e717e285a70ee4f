import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { wires } from '../harness/fixture-model.ts'
import type { Reply } from '../harness/server/scenarios.ts'
import { WireServer } from '../support/wire-server.ts'

const server = new WireServer()

beforeAll(() => server.start())
afterAll(() => server.stop())

const refused: Reply = { status: 400, message: 'No.' }
const saying: Reply = { turn: { text: ['Done.'] } }
const placeholder = '[No response: the request failed]'
const roles = new Map([
  ['model', 'assistant'],
  ['developer', 'system'],
])

/** The turns of a body: role and text of each. */
function turnsOf(body: Record<string, unknown> | undefined): string[] {
  const list = [body?.messages, body?.input, body?.contents].find(Array.isArray) ?? []
  return list.flatMap((turn: { role: string; content?: unknown; parts?: unknown }) => {
    const role = roles.get(turn.role) ?? turn.role
    const said = turn.content ?? turn.parts
    const texts = Array.isArray(said) ? said.flatMap(({ text }: { text?: string }) => text ?? []).join('|') : String(said)
    return role === 'system' ? [] : [`${role}: ${texts}`]
  })
}

describe('a prompt whose run failed', () => {
  it.each(wires)('separates a failed prompt from the next with a placeholder: %s', async (wire) => {
    const { model, sent } = server.service(wire, refused, refused, saying)
    const agent = new Agent({ model: model() })
    for (const question of ['One?', 'Two?', 'Three?']) await agent.prompt(question).result
    const line = `assistant: ${placeholder}`
    expect(turnsOf(sent[2])).toEqual(['user: One?', line, 'user: Two?', line, 'user: Three?'])
    expect(JSON.stringify(agent.messages)).not.toContain(placeholder)
  })

  it('separates a failed prompt from the next after reopening the session', async () => {
    const store = memorySessionStore()
    const { model, sent } = server.service('anthropic', refused, saying)
    const first = new Agent({ model: model(), session: store, sessionId: 'failed' })
    await first.prompt('One?').result
    await first.close()
    const second = await resumeAgent(store, 'failed', { model: model() })
    await second.prompt('Two?').result
    await second.close()
    expect(turnsOf(sent[1])).toEqual(['user: One?', `assistant: ${placeholder}`, 'user: Two?'])
  })

  it('adds no placeholder if a later response exists', async () => {
    const { model, sent } = server.service('openai', refused, saying)
    const agent = new Agent({ model: model() })
    await agent.prompt('One?').result
    await agent.continueLoop().result
    await agent.prompt('Two?').result
    expect(turnsOf(sent[1])).toEqual(['user: One?'])
    expect(turnsOf(sent[2])).toEqual(['user: One?', 'assistant: Done.', 'user: Two?'])
  })
})

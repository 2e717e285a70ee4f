import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolCallContent } from '../../src/contract/message/content.ts'
import type { AssistantMessage, Message } from '../../src/contract/message/message.ts'
import { Agent, defineTool, type Model, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { openaiCompatible } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { type Wire, wires } from '../harness/fixture-model.ts'
import type { Reply, Turn } from '../harness/server/scenarios.ts'
import { WireServer } from '../support/wire-server.ts'
import { answering, sse } from './bytes.ts'
import { answerBy, authorOf, outcomeOf, plainRequest, result, sentBody, user } from './model-call.ts'

/** A gateway's id: it keeps a signature of 2 kB in it, with signs that services refuse. */
const signed = `call:1__thought__${'aB+/='.repeat(400)}`
const server = new WireServer()

beforeAll(() => server.start())
afterAll(() => server.stop())

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  parameters: { type: 'object', properties: {} },
  execute: () => 'seen',
})

function calling(...ids: string[]): Reply {
  const turn: Turn = { text: ['I look.'], calls: ids.map((id) => ({ id, name: 'look', arguments: {} })) }
  return { turn }
}

const saying: Reply = { turn: { text: ['Done.'] } }

function agentOf(model: Model): Agent {
  return new Agent({ model, tools: [look] })
}

const idFields = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id', 'toolUseId'])

/** Every id of a call or result in a body, in order; items of Responses have further ones. */
function idsIn(body: unknown): string[] {
  const ids: string[] = []
  JSON.stringify(body, (name, value: unknown) => {
    if (idFields.has(name) && typeof value === 'string' && !/^(fc|rs|msg)_/.test(value)) ids.push(value)
    return value
  })
  return ids
}

/** Gemini 2.5 has no ids on the wire. */
const withIds: readonly Wire[] = wires.filter((wire) => wire !== 'google')

describe('an id issued by a provider', () => {
  it.each(withIds)('returns an issued id to its provider unchanged: %s', async (wire) => {
    const { model, sent } = server.service(wire, calling(signed), saying)
    expect((await agentOf(model()).prompt('Look').result).status).toBe('completed')
    expect(idsIn(sent[1])).toEqual([signed, signed])
  })

  it.each(withIds)('keeps an issued id for its model, and sends a valid id to another: %s', async (wire) => {
    const own = server.service(wire, calling(signed), saying)
    const other = server.service(wire, saying)
    const agent = agentOf(own.model())
    await agent.prompt('Look').result
    agent.configure({ model: other.model('another-model') })
    await agent.prompt('Again').result
    agent.configure({ model: own.model() })
    await agent.prompt('Once more').result
    const [foreign = '', ...more] = idsIn(other.sent[0])
    expect(foreign.length).toBeLessThanOrEqual(256)
    expect(more.every((id) => id === foreign)).toBe(true)
    expect(idsIn(own.sent[2])).toEqual([signed, signed])
  })

  it.each(['openai', 'openai-responses', 'vertex'] as const)('keeps an issued id although later turns repeat it: %s', async (wire) => {
    const { model, sent } = server.service(wire, calling('look:0'), saying, calling('look:0'), saying)
    const agent = agentOf(model())
    await agent.prompt('Look').result
    await agent.prompt('Look').result
    expect(idsIn(sent[3])).toEqual(['look:0', 'look:0', 'look:0', 'look:0'])
  })

  it.each(['anthropic', 'bedrock'] as const)('replaces a repeated id if the provider rejects duplicates: %s', async (wire) => {
    const { model, sent } = server.service(wire, calling('look-0'), saying, calling('look-0'), saying)
    const agent = agentOf(model())
    await agent.prompt('Look').result
    await agent.prompt('Look').result
    const [first, , third, fourth] = idsIn(sent[3])
    expect(first).toBe('look-0')
    expect(third).not.toBe(first)
    expect(fourth).toBe(third)
  })

  it('keeps an issued id after reopening the session', async () => {
    const store = memorySessionStore()
    const { model, sent } = server.service('openai', calling(signed), saying)
    const first = new Agent({ model: model(), tools: [look], session: store, sessionId: 'a' })
    await first.prompt('Look').result
    await first.close()
    const second = await resumeAgent(store, 'a', { model: model(), tools: [look] })
    await second.prompt('Again').result
    await second.close()
    expect(idsIn(sent[2])).toEqual([signed, signed])
  })
})

const call = (id: string): ToolCallContent => ({ type: 'toolCall', id, name: 'look', arguments: {} })

describe('a foreign id', () => {
  it('converts an id from another protocol to a valid one', async () => {
    const chat = openaiCompatible('m', {
      provider: 'gateway',
      baseUrl: 'http://127.0.0.1:9',
      fetch: responseOf({ tool_calls: [callOf(signed, 0)] }),
    })
    const { message } = await outcomeOf(chat.provider, plainRequest(chat.config))
    const responses = openaiResponses('m', { provider: 'gateway', baseUrl: 'http://127.0.0.1:9' })
    const messages = [user('Look'), message as AssistantMessage, result(signed)]
    const ids = idsIn(await sentBody(responses.provider, plainRequest(responses.config, { messages })))
    expect(ids.every((id) => id.length <= 64)).toBe(true)
    expect(idsIn(await sentBody(chat.provider, plainRequest(chat.config, { messages })))).toEqual([signed, signed])
  })

  it('replaces an id that no provider issued', async () => {
    const { config, provider } = openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9' })
    const messages: Message[] = [user('Look'), answerBy(authorOf(config), [call('')], { stopReason: 'toolUse' }), result('')]
    const [asked, answered] = idsIn(await sentBody(provider, plainRequest(config, { messages })))
    expect(asked).not.toBe('')
    expect(answered).toBe(asked)
  })
})

/** One response of Chat Completions with this delta. */
function responseOf(delta: object): typeof fetch {
  return answering([sse({ choices: [{ index: 0, delta, finish_reason: 'tool_calls' }] }, '[DONE]')])
}

function callOf(id: string, index: number): object {
  return { index, id, function: { name: 'look', arguments: '{}' } }
}

describe("OpenRouter's reasoning_details", () => {
  it('keeps reasoning_details in sync with call ids, also at the same index', async () => {
    const ids = ['look_0_1234567890123456789012345678901234567890', 'look_1_1234567890123456789012345678901234567890']
    const details = ids.map((id) => ({ type: 'reasoning.encrypted', index: 0, id, data: `sig ${id}`, format: 'google-gemini-v1' }))
    const delta = { reasoning_details: details, tool_calls: ids.map(callOf) }
    const { config, provider } = openaiCompatible('google/gemini-3-pro', { backend: 'openrouter', fetch: responseOf(delta) })
    const { message } = await outcomeOf(provider, plainRequest(config))
    const messages = [user('Look'), message as AssistantMessage, ...ids.map((id) => result(id))]
    const body = await sentBody<{ messages: Record<string, unknown>[] }>(provider, plainRequest(config, { messages }))
    expect(body.messages[1]?.reasoning_details).toEqual(details)
    expect(body.messages[1]?.tool_calls).toMatchObject(ids.map((id) => ({ id })))
    expect(body.messages.slice(2, 4)).toMatchObject(ids.map((id) => ({ tool_call_id: id })))
  })
})

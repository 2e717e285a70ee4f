import { describe, expect, it } from 'vitest'
import { Agent, type AssistantMessage, type Model, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { tool } from '../support/play.ts'

const echo = tool('echo', (args) => JSON.stringify(args))

/** JSON text of so many levels. */
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

/** A model that writes what `content` says first, then `done`. */
function writing(content: AssistantMessage['content']): Model {
  const model = scripted(() => ({ text: 'done' }))
  let isFirst = true
  const provider: Model['provider'] = {
    ...{ api: 'scripted', encode: (request) => model.provider.encode(request) },
    stream: async (request, emit, signal) => {
      const message = await model.provider.stream(request, emit, signal)
      if (!isFirst) return message
      isFirst = false
      return { ...message, content, stopReason: 'toolUse' }
    },
  }
  return { ...model, provider }
}

describe('deeply nested model output', () => {
  it.each([201, 5000, 200_000])('rejects arguments nested %d levels deep without running the tool', async (levels) => {
    const args = JSON.parse(nested(levels))
    const store = memorySessionStore()
    const agent = new Agent({
      model: writing([{ type: 'toolCall', id: 'c1', name: 'echo', arguments: args }]),
      tools: [echo],
      session: store,
    })
    const result = await agent.prompt('go').result
    expect(result).toMatchObject({ status: 'completed', text: 'done' })
    expect(result.messages[1]).toMatchObject({
      content: [{ arguments: {}, invalidArguments: expect.stringContaining('deeper than 200 levels') }],
    })
    expect(result.messages[2]).toMatchObject({
      role: 'toolResult',
      isError: true,
      content: [{ text: expect.stringContaining('Invalid arguments') }],
    })
    await agent.close()
    const resumed = await resumeAgent(store, agent.sessionId, { model: scripted([{ text: 'and on' }]), tools: [echo] })
    expect((await resumed.prompt('on').result).text).toBe('and on')
  })

  it('accepts arguments nested 200 levels deep', async () => {
    const agent = new Agent({
      model: writing([{ type: 'toolCall', id: 'c1', name: 'echo', arguments: JSON.parse(nested(200)) }]),
      tools: [echo],
    })
    expect((await agent.prompt('go').result).messages[2]).toMatchObject({ isError: false, content: [{ text: nested(200) }] })
  })

  it.each([null, 'text', [1], 7])('rejects %j as arguments', async (args) => {
    const agent = new Agent({ model: writing([{ type: 'toolCall', id: 'c1', name: 'echo', arguments: args as never }]), tools: [echo] })
    expect(await agent.prompt('go').result).toMatchObject({
      status: 'completed',
      messages: [{}, { content: [{ arguments: {} }] }, { isError: true }, {}],
    })
  })

  it('drops deeply nested provider state', async () => {
    const providerState = { api: 'scripted', model: 'scripted', payload: JSON.parse(nested(5000)) }
    const agent = new Agent({ model: writing([{ type: 'text', text: 'hi', providerState }]) })
    const result = await agent.prompt('go').result
    expect(result.messages[1]).toMatchObject({ content: [{ type: 'text', text: 'hi' }] })
    expect(() => JSON.stringify(result.messages)).not.toThrow()
  })

  it('rejects deeply nested arguments over HTTP', async () => {
    const frames = [
      { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'echo', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: nested(50_000) } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ]
    const body = frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join('')
    let calls = 0
    const fetch = async () => {
      if (++calls > 1) return new Response('{"error":{"type":"invalid_request_error","message":"enough"}}', { status: 400 })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    }
    const result = await new Agent({ model: anthropic('m', { fetch }), tools: [echo] }).prompt('go').result
    expect(result.messages[1]).toMatchObject({ content: [{ arguments: {}, invalidArguments: expect.any(String) }] })
    expect(result.error?.message).toContain('enough')
  })
})

import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type Model } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { awsFrame } from '../../harness/server/bedrock.ts'
import { longHistory } from '../../support/long-history.ts'

const sse = (...events: unknown[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { headers: { 'content-type': 'text/event-stream' } })

function fromAnthropic(text: string, stop_reason: string): Response {
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text } }
  const blocks = text === '' ? [] : [block, { type: 'content_block_stop', index: 0 }]
  const first = { type: 'message_start', message: { id: 'm', usage: { input_tokens: 2000 } } }
  return sse(first, ...blocks, { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9 } }, { type: 'message_stop' })
}

function fromBedrock(text: string, stopReason: string): Response {
  const frame = (type: string, fields: object) =>
    awsFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, JSON.stringify(fields))
  const delta = text === '' ? [] : [frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })]
  const frames = [frame('messageStart', {}), ...delta, frame('messageStop', { stopReason }), frame('metadata', { usage: {} })]
  return new Response(new Uint8Array(Buffer.concat(frames)), { headers: { 'content-type': 'application/vnd.amazon.eventstream' } })
}

function fromChat(content: string, finish_reason: string): Response {
  return sse({ choices: [{ index: 0, delta: { content }, finish_reason }] })
}

type Answer = [text: string, stopReason: string]

/** What came of one prompt behind a long history; the services answer in this order. */
async function asked(make: (options: object) => Model, respond: (...answer: Answer) => Response, ...answers: Answer[]) {
  const bodies: string[] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    bodies.push(String(init?.body))
    return respond(...(answers[bodies.length - 1] ?? ['none', 'end_turn']))
  }
  const agent = new Agent({ model: make({ fetch, apiKey: 'x' }), messages: longHistory(20, 100), retry: { maxRetries: 0 } })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  const result = await agent.prompt('now').result
  return { result, bodies, types: events.map(({ type }) => type), agent }
}

const filled = 'model_context_window_exceeded'
const services: [string, (options: object) => Model, (...answer: Answer) => Response, string, string][] = [
  ['Anthropic', (options) => anthropic('m', options), fromAnthropic, filled, 'end_turn'],
  ['Bedrock', (options) => bedrock('m', options), fromBedrock, filled, 'end_turn'],
  ['z.ai', (options) => openai('m', options), fromChat, filled, 'stop'],
]

describe.each(services)('a response of %s that fills the context window', (_name, make, respond, full, stop) => {
  it.each(['half an answer', ''])('triggers one compaction and repeats the request: %j', async (text) => {
    const { result, bodies, types, agent } = await asked(make, respond, [text, full], ['fine', stop])
    expect(result).toMatchObject({ status: 'completed', text: 'fine' })
    expect(types.filter((type) => type.startsWith('compaction'))).toEqual(['compactionStarted', 'compactionEnded'])
    expect(bodies).toHaveLength(2)
    expect(bodies[1]?.length).toBeLessThan((bodies[0]?.length ?? 0) / 2 + 500)
    expect(bodies[1]).not.toContain('half an answer')
    const starts = types.filter((type) => type === 'messageStart').length
    expect(types.filter((type) => type === 'messageEnd')).toHaveLength(starts)
    expect(agent.messages.at(-1)).toMatchObject({ stopReason: 'stop' })
  })

  it('ends the run with stopReason length if it fills the window again', async () => {
    const { result, bodies, agent } = await asked(make, respond, ['half', full], ['half again', full])
    expect(bodies).toHaveLength(2)
    expect(result.text).toContain('half again')
    expect(agent.messages.at(-1)).toMatchObject({ stopReason: 'length', errorMessage: expect.stringContaining('context window') })
  })
})

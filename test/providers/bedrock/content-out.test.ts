import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, type Message, textOf, toolCallsOf } from '../../../src/contract/message/message.ts'
import { bedrock, bedrockTools } from '../../../src/providers/bedrock/index.ts'
import { type Sample, samplesOf } from '../content-samples.ts'
import { outcomeOf, plainRequest, result, sentBody, user } from '../model-call.ts'
import { answering, credential, frame, type WireBody } from './call.ts'

const id = 'us.amazon.nova-2-lite-v1:0'
const samples = samplesOf('bedrock_converse_stream')

/** The frames of a sample: lines have the type of an event as their only name. */
function framesOf({ events }: Sample): Uint8Array[] {
  return events.flatMap(({ event, data }) =>
    event === undefined ? Object.entries(Object(data)).map(([type, fields]) => frame(type, fields)) : [frame(event, data)],
  )
}

async function read(pieces: Uint8Array[], tools = ['local_search']): Promise<{ message: AssistantMessage; warnings: string[] }> {
  const { provider, config } = bedrock(id, { apiKey: 'k', fetch: answering(pieces) })
  const offered = tools.map((name) => ({ name, description: '', parameters: {} }))
  const { message, error, events } = await outcomeOf(provider, plainRequest(config, { tools: offered, credential }))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>

async function echo(message: AssistantMessage): Promise<object[]> {
  const answers: Message[] = toolCallsOf(message.content).map((call) => result(call.id))
  const { provider, config } = bedrock(id, { apiKey: 'k' })
  const messages = [user('Hi'), message, ...(answers.length > 0 ? answers : [user('Go on.')])]
  const body = await sentBody<WireBody>(provider, plainRequest(config, { messages, credential, cache: { type: 'disabled' } }))
  return (body.messages as { content: object[] }[])[1]?.content ?? []
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
  const { text = '', stop = 'stop', serviceTools = [], citations = [], toolCalls = [] } = sample.expect

  it('decodes its content and sends it back unchanged', async () => {
    const { message, warnings } = await read(framesOf(sample))
    expect(textOf(message.content)).toBe(text)
    expect(message.stopReason).toBe(stop)
    expect(warnings).toEqual([])
    expect(toolCallsOf(message.content).map((call) => call.id)).toEqual(toolCalls.map((call) => call.id))
    const tools = message.content.filter((block): block is ServiceTool => block.type === 'serviceTool')
    expect(tools).toMatchObject(
      serviceTools.map(({ name: wanted, status = 'done', error }) => ({ name: wanted, status, ...(error !== undefined && { error }) })),
    )
    const cited = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
    for (const [at, { url, citedText }] of citations.entries()) {
      expect(cited[at]).toMatchObject({ ...(url !== undefined && { url }), ...(citedText !== undefined && { citedText }) })
    }
    const wanted = (sample.expect as { echo?: object[] }).echo
    if (wanted !== undefined) expect(await echo(message)).toEqual(wanted)
  })

  it('decodes the same message at any chunk boundary', async () => {
    const bytes = new Uint8Array(Buffer.concat(framesOf(sample)))
    const whole = await read([bytes])
    for (let at = 1; at < bytes.length; at += 37) {
      const { message } = await read([bytes.subarray(0, at), bytes.subarray(at)])
      expect(message.content).toEqual(whole.message.content)
    }
  })
})

/** An answer with these events between its first and its last. */
function answerOf(...events: (readonly [string, object])[]) {
  const all = [['messageStart', { role: 'assistant' }], ...events, ['messageStop', { stopReason: 'end_turn' }]] as const
  return read(all.map(([type, fields]) => frame(type, fields)))
}
const started = (contentBlockIndex: number, start: object) => ['contentBlockStart', { contentBlockIndex, start }] as const
const grows = (contentBlockIndex: number, delta: object) => ['contentBlockDelta', { contentBlockIndex, delta }] as const
const stopped = (contentBlockIndex: number) => ['contentBlockStop', { contentBlockIndex }] as const

it('keeps unknown content with all its deltas, warns and sends it back', async () => {
  const { message, warnings } = await answerOf(
    started(0, { hologram: { hue: 're' } }),
    grows(0, { hologram: { hue: 'd', beams: [1] } }),
    grows(0, { hologram: { beams: [2] } }),
    stopped(0),
    grows(1, { text: 'ok', hint: { a: 1 } }),
  )
  expect(message.content).toMatchObject([
    { type: 'opaque', kind: 'hologram' },
    { type: 'text', text: 'ok' },
    { type: 'opaque', kind: 'hint' },
  ])
  expect(warnings).toEqual([expect.stringContaining('"hologram"'), expect.stringContaining('"hint"')])
  expect(await echo(message)).toEqual([{ hologram: { hue: 'red', beams: [1, 2] } }, { text: 'ok' }, { hint: { a: 1 } }])
})

it('reports an unknown citation location and all output of a hosted tool', async () => {
  const { message, warnings } = await answerOf(
    started(0, { toolResult: { toolUseId: 't', type: 'nova_code_interpreter_result', status: 'success' } }),
    grows(0, { toolResult: [{ json: { exitCode: 0 } }, { text: 'more' }] }),
    stopped(0),
    grows(1, { text: 'ok' }),
    grows(1, { citation: { location: { hologram: { at: 1 } } } }),
    grows(1, { citation: { source: 'https://example.org/a', sourceContent: [{ text: 'said' }] } }),
    stopped(1),
    ['metadata', { serviceTier: { type: 'priority' } }],
  )
  const citations = [{ url: 'https://example.org/a', title: 'https://example.org/a', citedText: 'said' }]
  expect(message.content).toMatchObject([
    { type: 'serviceTool', output: [{ exitCode: 0 }, 'more'] },
    { type: 'text', citations },
  ])
  expect(message.serviceTier).toBe('priority')
  expect(warnings).toEqual([expect.stringContaining('"hologram"')])
})

it('declares hosted tools before client tools and rejects unknown ones', async () => {
  const { provider, config } = bedrock(id, { apiKey: 'k', serverTools: [bedrockTools.grounding()] })
  const tools = [{ name: 'read', description: 'Reads', parameters: {} }]
  const { toolConfig } = await sentBody<WireBody>(provider, plainRequest(config, { tools, credential, cache: { type: 'disabled' } }))
  expect(toolConfig).toMatchObject({ tools: [{ systemTool: { name: 'nova_grounding' } }, { toolSpec: { name: 'read' } }] })
  expect(() => bedrock(id, { apiKey: 'k', serverTools: [{ googleSearch: {} }] })).toThrow('is not a tool of the provider')
})

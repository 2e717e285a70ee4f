import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, callsToAnswer, type Message, textOf } from '../../../src/contract/message/message.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { answering } from '../bytes.ts'
import { type Expected, type ExpectedTool, type Sample, samplesOf, sseOf } from '../content-samples.ts'
import { outcomeOf } from '../model-call.ts'
import { bodyFor, request, result, user, type WireMessages } from './call.ts'

const id = 'claude-opus-4-6'
const samples = samplesOf('anthropic_messages').filter(({ name }) => !name.startsWith('pause-part'))
const pauses = samplesOf('anthropic_messages').filter(({ name }) => name.startsWith('pause-part'))

async function read(bytes: Uint8Array[], continues?: AssistantMessage): Promise<AssistantMessage> {
  const { provider } = anthropic(id, { apiKey: 'k', fetch: answering(bytes) })
  const made = request(
    id,
    continues === undefined ? {} : { continues, messages: [user('Hi'), { ...continues, content: [...continues.content] }] },
  )
  const { message, error } = await outcomeOf(provider, made)
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return message
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>
const toolsIn = ({ content }: AssistantMessage) => content.filter((block): block is ServiceTool => block.type === 'serviceTool')

function looksLike(tool: ServiceTool | undefined, wanted: ExpectedTool): void {
  expect(tool?.name).toBe(wanted.server === undefined ? wanted.name : `mcp.${wanted.server}.${wanted.name}`)
  expect(tool?.status).toBe(wanted.status ?? 'done')
  if (wanted.id !== undefined) expect(tool?.id).toBe(wanted.id)
  if (wanted.input !== undefined && JSON.stringify(wanted.input) !== '{"code":"…"}') expect(tool?.input).toEqual(wanted.input)
  if (typeof wanted.error === 'string') expect(tool?.error?.code).toBe(wanted.error)
  else if (wanted.error !== undefined) expect(tool?.error).toMatchObject(Object(wanted.error))
  const shown = Array.isArray(tool?.output) ? tool.output.map((each) => (typeof each === 'string' ? each : Object(each).url)) : tool?.output
  if (wanted.output !== undefined) expect(shown).toEqual(wanted.output)
}

function holds(message: AssistantMessage, wanted: Expected): void {
  expect(textOf(message.content)).toBe(wanted.text ?? '')
  expect(message.stopReason).toBe(wanted.stop ?? 'stop')
  const calls = callsToAnswer(message.content).map((call) => [call.id, call.name, call.arguments])
  expect(calls).toEqual((wanted.toolCalls ?? []).map((call) => [call.id, call.name, call.arguments ?? call.args]))
  const tools = toolsIn(message)
  expect(tools).toHaveLength(wanted.serviceTools?.length ?? 0)
  for (const [at, tool] of (wanted.serviceTools ?? []).entries()) looksLike(tools.find((each) => each.id === tool.id) ?? tools[at], tool)
  const kinds = message.content.flatMap((block) => (block.type === 'opaque' ? [block.kind] : []))
  for (const kind of wanted.opaque ?? []) expect(kinds).toContain(kind)
  if (wanted.usage?.searches !== undefined) expect(message.usage.searches).toBe(wanted.usage.searches)
  if (wanted.container !== undefined) expect(message.providerState?.payload).toMatchObject({ container: { id: wanted.container } })
  for (const { of, url, title, citedText } of wanted.citations ?? []) {
    const block = message.content.find(
      (each) => each.type === 'text' && (of === undefined || each.text === of) && each.citations?.some((one) => one.url === url),
    )
    expect(block).toMatchObject({
      citations: expect.arrayContaining([expect.objectContaining({ ...(title && { title }), ...(citedText && { citedText }) })]),
    })
  }
  for (const { fileId } of wanted.files ?? []) expect(message.content).toContainEqual(expect.objectContaining({ type: 'file', fileId }))
}

/** The blocks of a stream, put together as any client would. */
function received({ events }: Sample): object[] {
  const blocks: Record<string, unknown>[] = []
  for (const { data } of events) {
    const event = data as { type: string; index: number; message?: { content: [] }; content_block: object; delta: Record<string, string> }
    if (event.type === 'message_start') blocks.push(...(event.message?.content ?? []))
    if (event.type === 'content_block_start') blocks[event.index] = structuredClone(event.content_block) as Record<string, unknown>
    if (event.type !== 'content_block_delta') continue
    const block = blocks[event.index] ?? {}
    const { delta } = event
    if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`
    if (delta.type === 'signature_delta') block.signature = delta.signature
    if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`
    if (delta.type === 'input_json_delta') block.raw = `${block.raw ?? ''}${delta.partial_json}`
    if (delta.type === 'citations_delta')
      block.citations = [...((block.citations as object[]) ?? []), withoutFileId(delta.citation as unknown as object)]
  }
  return blocks
    .filter(({ type, text }) => type !== 'text' || text !== '')
    .map(({ raw, citations, ...block }) => ({
      ...block,
      ...(typeof raw === 'string' && { input: JSON.parse(raw) }),
      ...(Array.isArray(citations) && citations.length > 0 && { citations }),
    }))
}

function withoutFileId(citation: object): object {
  const { file_id: _id, ...rest } = citation as { file_id?: unknown }
  return rest
}

async function echo(message: AssistantMessage): Promise<WireMessages> {
  const answers: Message[] = callsToAnswer(message.content).map((call) => result(call.id))
  const messages = [user('Hi'), message, ...(answers.length > 0 ? answers : [user('Go on.')])]
  const body = await bodyFor(request(id, { messages, cache: { type: 'disabled' } }))
  return body.messages as WireMessages
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
  it('decodes its content and sends it back unchanged', async () => {
    const message = await read([sseOf(sample)])
    holds(message, sample.expect)
    const [, assistant, after] = await echo(message)
    expect(assistant).toEqual({ role: 'assistant', content: received(sample) })
    const results = callsToAnswer(message.content)
    if (results.length > 0) expect(after?.content.map((block) => block.type)).toEqual(results.map(() => 'tool_result'))
  })

  it('decodes the same message at any chunk boundary', async () => {
    const bytes = sseOf(sample)
    const whole = await read([bytes])
    for (let at = 1; at < bytes.length; at += 97) {
      const { content } = await read([bytes.subarray(0, at), bytes.subarray(at)])
      expect(content).toEqual(whole.content)
    }
  })
})

it.skipIf(pauses.length < 2)('joins a paused and continued response into one message', async () => {
  const [one, two] = pauses
  if (one === undefined || two === undefined) throw new Error('no parts')
  const half = await read([sseOf(one)])
  holds(half, one.expect)
  const sent = await bodyFor(request(id, { messages: [user('Hi'), half], continues: half, cache: { type: 'disabled' } }))
  expect((sent.messages as WireMessages).at(-1)).toEqual({ role: 'assistant', content: received(one) })
  const message = await read([sseOf(two)], half)
  expect(textOf(message.content)).toBe('Searching both. Both agree.')
  expect(toolsIn(message).map(({ status }) => status)).toEqual(['done', 'done'])
  expect(message.usage.searches).toBe(2)
  const [, assistant] = await echo(message)
  expect(assistant?.content).toEqual([...received(one), ...received(two)])
})

/** An answer that begins with a block and its deltas, and goes on with a text. */
async function beganWith(wire: object, ...deltas: object[]) {
  const sample: Sample = {
    name: 'kept',
    expect: {},
    events: [
      { data: { type: 'message_start', message: { id: 'm', content: [] } } },
      { data: { type: 'content_block_start', index: 0, content_block: wire } },
      ...deltas.map((delta) => ({ data: { type: 'content_block_delta', index: 0, delta } })),
      { data: { type: 'content_block_stop', index: 0 } },
      { data: { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'ok' } } },
      { data: { type: 'message_delta', delta: { stop_reason: 'end_turn' } } },
      { data: { type: 'message_stop' } },
    ],
  }
  const { provider } = anthropic(id, { apiKey: 'k', fetch: answering([sseOf(sample)]) })
  const { message, events } = await outcomeOf(provider, request(id))
  const warnings = events.flatMap((event) => (event.type === 'warning' ? [event.warning] : []))
  if (message === undefined) throw new Error('no message')
  return { message, warnings, sent: (await echo(message))[1]?.content }
}

const ok = { type: 'text', text: 'ok' }

it('keeps an unknown block with its deltas, warns once and sends it back', async () => {
  const wire = { type: 'hologram', beams: [1, 2], id: 'h', hue: 're' }
  const more = { type: 'beam_delta', beams: [3], hue: 'd', size: 4 }
  const { message, warnings, sent } = await beganWith(wire, more, { type: 'beam_delta', size: 5 })
  expect(warnings).toEqual([expect.stringContaining('"hologram"')])
  expect(message.content[0]).toMatchObject({ type: 'opaque', kind: 'hologram' })
  expect(sent).toEqual([{ ...wire, beams: [1, 2, 3], hue: 'red', size: 5 }, ok])
})

it('shows the text of an unknown block and keeps the block', async () => {
  const { message, sent } = await beganWith({ type: 'hologram', id: 'h' }, { type: 'text_delta', text: 'Hear.' })
  expect(message.content).toMatchObject([{ type: 'text', text: 'Hear.' }, { type: 'opaque', kind: 'hologram' }, ok])
  expect(sent).toEqual([{ type: 'text', text: 'Hear.' }, { type: 'hologram', id: 'h' }, ok])
})

it('sends a server-side compaction summary back unchanged', async () => {
  const summary = { content: 'They met.', encrypted_content: 'RU5D' }
  const empty = { type: 'compaction', content: null, encrypted_content: null }
  const { warnings, sent } = await beganWith(empty, { type: 'compaction_delta', ...summary })
  expect(warnings).toEqual([])
  expect(sent).toEqual([{ type: 'compaction', ...summary }, ok])
})

it("sends a tool's toolset back, and hides the bytes of a fetched page", async () => {
  const call = { type: 'tool_use', id: 't1', name: 'click', input: { at: 1 }, toolset_name: 'browser' }
  expect((await beganWith(call)).sent).toEqual([call, ok])
  const content = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' }, title: 'A' }
  const page = { type: 'web_fetch_result', url: 'https://example.org/a.pdf', content }
  const { message } = await beganWith({ type: 'web_fetch_tool_result', tool_use_id: 's1', content: page })
  expect(message.content[0]).toMatchObject({ type: 'serviceTool', output: { url: 'https://example.org/a.pdf', title: 'A' } })
})

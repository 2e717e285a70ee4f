import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, callsToAnswer, type Message, textOf } from '../../../src/contract/message/message.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { answering } from '../bytes.ts'
import { type Expected, type Sample, samplesOf, sseOf } from '../content-samples.ts'
import { outcomeOf, plainRequest, result, sentBody, user } from '../model-call.ts'

const id = 'gpt-6.1-sol'
const samples = [...samplesOf('openai_responses'), ...samplesOf('azure_openai_responses')]

async function read(bytes: Uint8Array[]): Promise<{ message: AssistantMessage; warnings: string[] }> {
  const { provider, config } = openaiResponses(id, { apiKey: 'k', fetch: answering(bytes) })
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>

/** Names of older samples stand without the server. */
function toolsOf({ content }: AssistantMessage): ServiceTool[] {
  return content.filter((block): block is ServiceTool => block.type === 'serviceTool')
}

function holdsTools(message: AssistantMessage, wanted: NonNullable<Expected['serviceTools']>): void {
  const tools = toolsOf(message)
  expect(tools).toHaveLength(wanted.length)
  for (const [at, { id: wantedId, name, server, status = 'done', input, output }] of wanted.entries()) {
    const tool = tools.find((each) => each.id === wantedId) ?? tools[at]
    expect(tool).toMatchObject({ name: server === undefined ? name : `mcp.${server}.${name}`, status })
    if (input !== undefined) expect(tool?.input).toMatchObject(Object(input))
    if (output !== undefined) expect(tool?.output).toEqual(output)
  }
}

function holds(message: AssistantMessage, wanted: Expected): void {
  if (wanted.refusal !== undefined) {
    expect(message).toMatchObject({ refusal: wanted.refusal, stopReason: 'guardRail' })
    return
  }
  expect(textOf(message.content)).toBe(wanted.text ?? '')
  expect(message.stopReason).toBe(wanted.stop === 'paused' ? 'toolUse' : (wanted.stop ?? 'stop'))
  const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name, block.arguments]] : []))
  expect(calls).toEqual((wanted.toolCalls ?? []).map((call) => [call.id, call.name, call.arguments ?? call.args]))
  if (wanted.serviceTools !== undefined) holdsTools(message, wanted.serviceTools)
  const citations = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
  for (const [at, { url, title, range }] of (wanted.citations ?? []).entries()) {
    if (url !== undefined) expect(citations[at]?.url).toBe(url)
    if (title !== undefined) expect(citations[at]?.title).toBe(title)
    if (range !== undefined) expect(citations[at]?.range).toEqual({ start: range[0], end: range[1] })
  }
  const media = message.content.filter((block) => block.type === 'image')
  for (const [at, { data, url }] of (wanted.media ?? []).entries()) {
    if (typeof data === 'string') expect(media[at]?.data).toBe(data)
    if (url !== undefined) expect(media[at]?.url).toBe(url)
  }
  for (const { fileId } of wanted.files ?? []) expect(message.content).toContainEqual(expect.objectContaining({ type: 'file', fileId }))
  if (wanted.usage?.searches !== undefined) expect(message.usage.searches).toBe(wanted.usage.searches)
  if (wanted.usage?.cost !== undefined) expect(message.usage.reportedCost).toBe(wanted.usage.cost)
}

/** The items of a stream, as they ended. */
function received({ events }: Sample): object[] {
  return events.flatMap(({ data }) => {
    const { type, item } = data as { type: string; item: Record<string, unknown> }
    // A message without a word has no block.
    const isEmpty = item?.type === 'message' && JSON.stringify(item.content).includes('"text":""')
    return type === 'response.output_item.done' && !isEmpty ? [item] : []
  })
}

async function echo(message: AssistantMessage): Promise<Record<string, unknown>[]> {
  const answers: Message[] = callsToAnswer(message.content).map((call, at) => result(call.id, [{ type: 'text', text: 'no' }], at === 1))
  const { provider, config } = openaiResponses(id, { apiKey: 'k' })
  const messages = [user('Hi'), message, ...(answers.length > 0 ? answers : [user('Go on.')])]
  const { input } = await sentBody<{ input: Record<string, unknown>[] }>(provider, plainRequest(config, { messages }))
  return input
}

/** What goes back of an item that is not the service's own in every field. */
function asSent(item: object): object {
  const { status: _status, parsed_arguments: _own, ...kept } = item as Record<string, unknown>
  return expect.objectContaining(kept.type === 'message' ? { type: 'message', id: kept.id } : kept)
}

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
  it('gives what it says, and goes back as it came', async () => {
    const { message, warnings } = await read([sseOf(sample)])
    holds(message, sample.expect)
    expect(warnings).toEqual([])
    if (sample.expect.refusal !== undefined) return
    const sent = (await echo(message)).slice(1)
    const items = received(sample)
    expect(sent.slice(0, items.length)).toEqual(items.map(asSent))
    const decided = sent.filter(({ type }) => type === 'mcp_approval_response')
    const asked = message.content.flatMap((block) => (block.type === 'serviceTool' && block.needsApproval === true ? [block.id] : []))
    expect(decided.map((each) => each.approval_request_id)).toEqual(asked)
    if (asked.length > 1) expect(decided.map(({ approve }) => approve)).toEqual([true, false])
  })

  it('is the same wherever it is cut', async () => {
    const bytes = sseOf(sample)
    const whole = await read([bytes])
    for (let at = 1; at < bytes.length; at += 193) {
      const { message } = await read([bytes.subarray(0, at), bytes.subarray(at)])
      expect(message.content).toEqual(whole.message.content)
    }
  })
})

it('keeps an item that it does not know, says so, and sends it back', async () => {
  const item = { id: 'holo_1', type: 'hologram_call', beams: 3 }
  const events = [
    { data: { type: 'response.created', response: { id: 'r' } } },
    { data: { type: 'response.output_item.done', output_index: 0, item } },
    { data: { type: 'response.beam.delta', delta: 'x' } },
    { data: { type: 'response.completed', response: { id: 'r', status: 'completed' } } },
  ]
  const { message, warnings } = await read([sseOf({ name: 'unknown', events, expect: {} })])
  expect(message.content).toMatchObject([{ type: 'opaque', kind: 'hologram_call' }])
  expect(warnings).toEqual([expect.stringContaining('"hologram_call"'), expect.stringContaining('"response.beam.delta"')])
  expect((await echo(message))[1]).toEqual(item)
})

it('a picture is shown while it is drawn, and is kept once', async () => {
  const sample = samples.find(({ name, expect: { media } }) => name === 'image' && media?.[0]?.mimeType !== undefined)
  if (sample === undefined) return
  const { message } = await read([sseOf(sample)])
  const state = toolsOf(message)[0]?.providerState
  expect(JSON.stringify(state)).not.toContain('iVBOR')
})

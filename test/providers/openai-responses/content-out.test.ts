import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type AssistantMessage, callsToAnswer, textOf } from '../../../src/contract/message/message.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { answering } from '../bytes.ts'
import { type Expected, type ExpectedTool, type Sample, samplesOf, sseOf } from '../content-samples.ts'
import { outcomeOf, plainRequest, sentBody } from '../model-call.ts'
import { called, inputFor, result, user } from './call.ts'

const samples = [
  ...samplesOf('openai_responses'),
  ...samplesOf('azure_openai_responses').map((sample) => ({ ...sample, name: `azure ${sample.name}` })),
]

const modelOf = (sample: Sample, bytes: Uint8Array[] = []) =>
  sample.name.startsWith('azure')
    ? azure('gpt-test', { resource: 'r', fetch: answering(bytes) })
    : openaiResponses('gpt-test', { fetch: answering(bytes), ...(sample.name.startsWith('xai') && { provider: 'xai' }) })

async function read(sample: Sample, bytes: Uint8Array[]): Promise<{ message: AssistantMessage; pictures: string[] }> {
  const { message, error, events } = await called(modelOf(sample, bytes))
  expect(error).toBeUndefined()
  if (message === undefined) throw new Error('no message')
  const pictures = events.flatMap((event) => (event.type === 'block' && event.block.type === 'image' ? [event.block.data ?? ''] : []))
  return { message, pictures }
}

type ServiceTool = Extract<Content, { type: 'serviceTool' }>
const toolsIn = ({ content }: AssistantMessage) => content.filter((block): block is ServiceTool => block.type === 'serviceTool')

function looksLike(tool: ServiceTool | undefined, wanted: ExpectedTool): void {
  expect(tool?.name).toBe(wanted.server === undefined ? wanted.name : `mcp.${wanted.server}.${wanted.name}`)
  expect(tool?.status).toBe(wanted.status ?? 'done')
  if (wanted.id !== undefined) expect(tool?.id).toBe(wanted.id)
  if (wanted.input !== undefined) expect(tool?.input).toEqual(wanted.input)
  if (wanted.output !== undefined) expect(tool?.output).toEqual(wanted.output)
}

function holds(message: AssistantMessage, wanted: Expected): void {
  expect(textOf(message.content)).toBe(wanted.text ?? '')
  const approvals = [...(wanted.approvals ?? []), ...(wanted.approval === undefined ? [] : [wanted.approval.id])]
  expect(message.stopReason).toBe(approvals.length > 0 ? 'toolUse' : (wanted.stop ?? 'stop'))
  expect(message.refusal).toBe(wanted.refusal)
  const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name, block.arguments]] : []))
  expect(calls).toEqual((wanted.toolCalls ?? []).map((call) => [call.id, call.name, call.arguments ?? call.args]))
  expect(toolsIn(message).flatMap(({ id, needsApproval }) => (needsApproval ? [id] : []))).toEqual(approvals)
  const tools = toolsIn(message)
  expect(tools).toHaveLength(wanted.serviceTools?.length ?? approvals.length)
  for (const [at, tool] of (wanted.serviceTools ?? []).entries()) looksLike(tools[at], tool)
  const kinds = message.content.flatMap((block) => (block.type === 'opaque' ? [block.kind] : []))
  for (const kind of wanted.opaque ?? []) expect(kinds).toContain(kind)
  if (wanted.usage?.searches !== undefined) expect(message.usage.searches).toBe(wanted.usage.searches)
  if (wanted.usage?.cost !== undefined) expect(message.usage.reportedCost).toBeCloseTo(Number(wanted.usage.cost), 12)
  const citations = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
  for (const { url, title, range, document } of wanted.citations ?? []) {
    const [start, end] = range ?? []
    const fields = {
      ...(url && { url }),
      ...(title && { title }),
      ...(document && { ...document }),
      ...(range && { range: { start, end } }),
    }
    expect(citations).toContainEqual(expect.objectContaining(fields))
  }
  const media = message.content.filter(({ type }) => type === 'image')
  for (const { partials: _shown, ...fields } of wanted.media ?? []) expect(media).toContainEqual(expect.objectContaining(fields))
  for (const { fileId, name } of wanted.files ?? []) {
    expect(message.content).toContainEqual(expect.objectContaining({ type: 'file', fileId, name }))
  }
}

/** The items that the service ended, as they came, without messages that say nothing. */
function received({ events }: Sample): object[] {
  const ends = events.flatMap(({ data }) => {
    const { type, item } = data as { type: string; item?: { type: string; content?: { text?: string }[] } }
    return type === 'response.output_item.done' && item !== undefined ? [item] : []
  })
  return ends.flatMap((item) => {
    if (item.type === 'function_call') return [{ ...item, status: undefined }]
    return item.type === 'message' && item.content?.every(({ text = '' }) => text === '') ? [] : [item]
  })
}

/** Fields that say the same where they are missing. */
const plain = (items: readonly object[]) => JSON.parse(JSON.stringify(items, (name, value) => (name === 'logprobs' ? undefined : value)))

describe.each(samples.map((sample) => [sample.name, sample] as const))('%s', (_name, sample) => {
  it('decodes its content and sends it back unchanged', async () => {
    const { message, pictures } = await read(sample, [sseOf(sample)])
    holds(message, sample.expect)
    for (const { partials, data } of sample.expect.media ?? []) if (partials !== undefined) expect(pictures).toEqual([...partials, data])
    const waiting = callsToAnswer(message.content)
    const answers = waiting.map((call, at) => ({ ...result(call.id), isError: at === 1, content: [{ type: 'text' as const, text: 'no' }] }))
    const stored: AssistantMessage = JSON.parse(JSON.stringify(message))
    const input = await inputFor([user('Hi'), stored, ...answers, user('Go on.')], modelOf(sample))
    const items = plain(received(sample))
    expect(plain(input).slice(1, 1 + items.length)).toEqual(items)
    const expected = waiting.map((call, at) => {
      if (call.isOfService !== true) return { type: 'function_call_output', call_id: call.id, output: 'no' }
      const decision = { type: 'mcp_approval_response', approval_request_id: call.id, approve: at !== 1 }
      return at === 1 ? { ...decision, reason: 'no' } : decision
    })
    // A refusal goes back as a text.
    const said = sample.expect.refusal === undefined ? [] : [{ role: 'assistant', content: sample.expect.refusal }]
    expect(input.slice(1 + items.length, -1)).toEqual([...expected, ...said])
  })

  it('decodes the same message at any chunk boundary', async () => {
    const bytes = sseOf(sample)
    const { message } = await read(sample, [bytes])
    for (let at = 1; at < bytes.length; at += 97) {
      const again = await read(sample, [bytes.subarray(0, at), bytes.subarray(at)])
      expect(again.message.content).toEqual(message.content)
    }
  })

  it('sends its content to other models as text', async () => {
    const { message } = await read(sample, [sseOf(sample)])
    const sent = JSON.stringify(await inputFor([user('Hi'), message, user('Go on.')], openaiResponses('gpt-other')))
    for (const type of ['_call"', 'mcp_list_tools', 'encrypted_content']) expect(sent.replaceAll('"function_call"', '')).not.toContain(type)
  })
})

it('omits a picture with invalid bytes with a warning and sends its call back unchanged', async () => {
  const item = { id: 'ig_1', type: 'image_generation_call', status: 'completed', result: 'no base64', revised_prompt: 'A dot.' }
  const events = [
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: 'r', status: 'completed', output: [item] } },
  ]
  const { provider, config } = openaiResponses('gpt-5.2', {
    apiKey: 'k',
    fetch: answering([sseOf({ name: 'odd', events: events.map((data) => ({ data })), expect: {} })]),
  })
  const { message, events: told } = await outcomeOf(provider, plainRequest(config))
  if (message === undefined) throw new Error('no message')
  expect(message.content).toMatchObject([{ type: 'serviceTool', name: 'image_generation', status: 'done' }])
  expect(told).toContainEqual({ type: 'warning', warning: expect.stringContaining('invalid bytes') })
  const { input } = await sentBody<{ input: unknown[] }>(
    provider,
    plainRequest(config, { messages: [user('Hi'), message, user('Go on.')] }),
  )
  expect(input[1]).toEqual(item)
})

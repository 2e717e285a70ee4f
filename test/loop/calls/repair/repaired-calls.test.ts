import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolCallContent } from '../../../../src/contract/message/content.ts'
import { Agent, type AgentOptions, type JsonObject, type Model, toolCallsOf } from '../../../../src/index.ts'
import type { BrokenCallInfo } from '../../../../src/types/run/hooks.ts'
import { models, type Wire } from '../../../harness/fixture-model.ts'
import { awsFrame } from '../../../harness/server/bedrock.ts'
import { tool } from '../../../support/play.ts'

type Codec = Extract<Wire, 'openai' | 'openai-responses' | 'anthropic' | 'bedrock'>

/** What a service answers: a call whose arguments come in these pieces, or the end. */
interface Step {
  pieces?: readonly string[]
  isCut?: boolean
}

const sse = (events: readonly object[], isNamed = true): Uint8Array[] =>
  events.map((event) => {
    const name = isNamed ? `event: ${Reflect.get(event, 'type')}\n` : ''
    return new TextEncoder().encode(`${name}data: ${JSON.stringify(event)}\n\n`)
  })

const encoders: Record<Codec, (step: Step) => Uint8Array[]> = {
  openai({ pieces, isCut }) {
    if (pieces === undefined) return sse([{ choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] }], false)
    const begins = { index: 0, id: 'call_1', type: 'function', function: { name: 'save', arguments: '' } }
    const deltas = [begins, ...pieces.map((piece) => ({ index: 0, function: { arguments: piece } }))]
    const chunks = deltas.map((call) => ({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }))
    return sse([...chunks, { choices: [{ index: 0, delta: {}, finish_reason: isCut ? 'length' : 'tool_calls' }] }], false)
  },
  'openai-responses'({ pieces, isCut }) {
    const at = { output_index: 0, item_id: 'fc_1' }
    const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'save', arguments: '' }
    const text = { type: 'message', id: 'm_1', role: 'assistant', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] }
    const whole = { ...item, arguments: pieces?.join(''), status: isCut ? 'incomplete' : 'completed' }
    const ending = isCut
      ? { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage: {} } }
      : { type: 'response.completed', response: { status: 'completed', usage: {} } }
    if (pieces === undefined)
      return sse([{ type: 'response.output_item.done', output_index: 0, item: { ...text, status: 'completed' } }, ending])
    return sse([
      { type: 'response.output_item.added', output_index: 0, item },
      ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, arguments: whole.arguments },
      { type: 'response.output_item.done', output_index: 0, item: whole },
      ending,
    ])
  },
  anthropic({ pieces, isCut }) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const block = pieces === undefined ? { type: 'text', text: 'Done.' } : { type: 'tool_use', id: 'toolu_1', name: 'save', input: {} }
    const reason = isCut ? 'max_tokens' : 'tool_use'
    return sse([
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: block },
      ...(pieces ?? []).map((piece) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: piece },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: pieces === undefined ? 'end_turn' : reason }, usage },
      { type: 'message_stop' },
    ])
  },
  bedrock({ pieces, isCut }) {
    const frame = (type: string, fields: object): Uint8Array =>
      awsFrame({ ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }, JSON.stringify(fields))
    const at = { contentBlockIndex: 0 }
    const reason = isCut ? 'max_tokens' : 'tool_use'
    const deltas = pieces?.map((input) => ({ toolUse: { input } })) ?? [{ text: 'Done.' }]
    return [
      frame('messageStart', { role: 'assistant' }),
      ...(pieces === undefined ? [] : [frame('contentBlockStart', { ...at, start: { toolUse: { toolUseId: 't_1', name: 'save' } } })]),
      ...deltas.map((delta) => frame('contentBlockDelta', { ...at, delta })),
      frame('contentBlockStop', at),
      frame('messageStop', { stopReason: pieces === undefined ? 'end_turn' : reason }),
      frame('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ]
  },
}
const codecs = Object.keys(encoders) as Codec[]

/** What each service still answers, and the bodies it was sent, by the first part of its path. */
const services = new Map<string, { codec: Codec; steps: Step[]; sent: string[] }>()
const server = createServer(async (request, response) => {
  const service = services.get((request.url ?? '').split('/')[1] ?? '')
  if (service === undefined) return void response.writeHead(500).end()
  let body = ''
  for await (const chunk of request) body += chunk
  service.sent.push(body)
  const type = service.codec === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
  response.writeHead(200, { 'content-type': type })
  for (const piece of encoders[service.codec](service.steps.shift() ?? {})) response.write(piece)
  response.end()
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => server.close(resolve)))

function serving(codec: Codec, ...steps: Step[]): { model: Model; sent: string[] } {
  const id = crypto.randomUUID()
  const service = { codec, steps, sent: [] }
  services.set(id, service)
  return { model: models[codec](`http://127.0.0.1:${(server.address() as AddressInfo).port}/${id}`), sent: service.sent }
}

const parameters = { type: 'object', properties: { path: { type: 'string' }, lines: { type: 'array' } }, required: ['path'] }

/** Runs a call whose arguments come in `pieces`; with what the tool was given. */
async function run(model: Model, options: Partial<AgentOptions> = {}, more: Parameters<typeof tool>[2] = {}) {
  const ran: JsonObject[] = []
  const warned: string[] = []
  const save = tool('save', (args) => `saved ${ran.push(args)}`, { parameters, ...more })
  const logger = { warn: (event: string) => warned.push(event), debug: () => {}, info: () => {}, error: () => {} }
  const agent = new Agent({ model, tools: [save], logger, ...options })
  return { agent, ran, warned, prompted: agent.prompt('Save it.') }
}

function callIn(agent: Agent): ToolCallContent | undefined {
  return agent.messages.flatMap((message) => (message.role === 'assistant' ? toolCallsOf(message.content) : []))[0]
}

describe.each(codecs)('repairing malformed arguments over %s', (codec) => {
  it.each([
    ['cumulative fragments', ['{"pa', '{"path":"a', '{"path":"a.ts"}'], { path: 'a.ts' }],
    ['a complete repetition', ['{"path":', '"a.ts"}', '{"path":"a.ts"}'], { path: 'a.ts' }],
    ['a leading empty object', ['{}', '{"path":', '"a.ts"}'], { path: 'a.ts' }],
    ['a line break inside a string', ['{"path":"a\n', 'b"}'], { path: 'a\nb' }],
    ['an invalid escape', ['{"path":"C:\\', 'dir"}'], { path: 'C:\\dir' }],
    ['an extra brace', ['{"path":"a.ts"}', '}'], { path: 'a.ts' }],
    ['a trailing comma', ['{"path":"a.ts",', '}'], { path: 'a.ts' }],
    ['a code fence', ['```json\n', '{"path":"a.ts"}', '\n```'], { path: 'a.ts' }],
  ])('repairs %s, then stores and sends the repaired arguments', async (_name, pieces, meant) => {
    const { model, sent } = serving(codec, { pieces })
    const { agent, ran, warned, prompted } = await run(model)
    expect((await prompted.result).status).toBe('completed')
    expect(ran).toEqual([meant])
    expect(callIn(agent)).toMatchObject({ arguments: meant, repairedFrom: pieces.join('') })
    expect(callIn(agent)).not.toHaveProperty('invalidArguments')
    expect(warned).toEqual(['argumentsRepaired'])
    expect(sent[1]).not.toContain('repairedFrom')
  })

  it.each<[string, Step]>([
    ['were cut by the output limit', { pieces: ['{}', '{"path":"a.ts"}'], isCut: true }],
    ['end too early', { pieces: ['{"path":{"path":"a.ts"}'] }],
    ['have two readings', { pieces: ['{"path":"a"}', '{"path":"b"}'] }],
    ['have no reading that fits the schema', { pieces: ['{}', '{"lines":[]}'] }],
  ])('keeps the original arguments if they %s', async (_name, step) => {
    const { agent, ran, prompted } = await run(serving(codec, step).model)
    await prompted.result
    expect(ran).toEqual([])
    expect(callIn(agent)).toMatchObject({ arguments: {}, invalidArguments: step.pieces?.join('') })
  })
})

it('rejects arguments after an empty object that also fits the schema', async () => {
  const { ran, prompted } = await run(serving('openai', { pieces: ['{}', '{"path":"a"}'] }).model, {}, { parameters: { type: 'object' } })
  await prompted.result
  expect(ran).toEqual([])
})

it('selects the only reading that fits the schema', async () => {
  const parameters = { type: 'object', properties: { path: { type: 'object', required: ['path'] } }, required: ['path'] }
  const { ran, prompted } = await run(serving('openai', { pieces: ['{"path":', '{"path":"a\nb"}}'] }).model, {}, { parameters })
  await prompted.result
  expect(ran).toEqual([{ path: { path: 'a\nb' } }])
})

it('rejects arguments with two readings that fit the schema', async () => {
  const { agent, ran, prompted } = await run(
    serving('openai', { pieces: ['{"path":', '{"path":"a\nb"}}'] }).model,
    {},
    { parameters: { type: 'object' } },
  )
  await prompted.result
  expect(ran).toEqual([])
  expect(callIn(agent)).not.toHaveProperty('repairedFrom')
})

it('repairs nested arguments as a whole even if one part fits', async () => {
  const { ran, prompted } = await run(serving('openai', { pieces: ['{"path":"a","lines":[', '{"path":"a"}]}'] }).model)
  await prompted.result
  expect(ran).toEqual([{ path: 'a', lines: [{ path: 'a' }] }])
})

it('requests approval for the repaired arguments and runs the call with them', async () => {
  const { agent, ran, prompted } = await run(serving('openai', { pieces: ['{}', '{"path":"a.ts"}'] }).model, {}, { needsApproval: true })
  const asked: unknown[] = []
  prompted.subscribe((event) => {
    if (event.type !== 'approvalRequested') return
    asked.push(event.args, event.argumentsHash)
    prompted.approve(event)
  })
  await prompted.result
  const plain = await run(serving('openai', { pieces: ['{"path":"a.ts"}'] }).model, {}, { needsApproval: true })
  plain.prompted.subscribe((event) => {
    if (event.type !== 'approvalRequested') return
    expect(asked).toEqual([event.args, event.argumentsHash])
    plain.prompted.approve(event)
  })
  await plain.prompted.result
  expect(ran).toEqual(plain.ran)
  expect(callIn(agent)?.arguments).toEqual({ path: 'a.ts' })
})

it('emits the repaired call in messageEnd', async () => {
  const { prompted } = await run(serving('openai', { pieces: ['{"path":"a.ts",}'] }).model)
  const ends = await ofTypes(prompted)
  expect(ends[0]).toMatchObject({ arguments: { path: 'a.ts' }, repairedFrom: '{"path":"a.ts",}' })
})

async function ofTypes(run: ReturnType<Agent['prompt']>): Promise<ToolCallContent[]> {
  const calls: ToolCallContent[] = []
  for await (const event of run)
    if (event.type === 'messageEnd' && event.message.role === 'assistant') calls.push(...toolCallsOf(event.message.content))
  return calls
}

describe('repairToolCall', () => {
  const broken: Step = { pieces: ['path = a.ts'] }

  async function hooked(step: Step, repairToolCall: NonNullable<NonNullable<AgentOptions['hooks']>['repairToolCall']>) {
    const asked: BrokenCallInfo[] = []
    const hooks: AgentOptions['hooks'] = {
      repairToolCall: (info) => {
        asked.push(info)
        return repairToolCall(info)
      },
    }
    const { agent, ran, warned, prompted } = await run(serving('openai', step).model, { hooks })
    const { status } = await prompted.result
    return { agent, ran, warned, asked, status }
  }

  it('receives the error and raw text and returns the arguments', async () => {
    const { agent, ran, asked } = await hooked(broken, async () => ({ arguments: { path: 'a.ts' } }))
    expect(asked).toMatchObject([{ toolName: 'save', toolCallId: 'call_1', text: 'path = a.ts', fault: 'not a JSON object', parameters }])
    expect(ran).toEqual([{ path: 'a.ts' }])
    expect(callIn(agent)).toMatchObject({ arguments: { path: 'a.ts' }, repairedFrom: 'path = a.ts' })
  })

  it('reports invalid arguments to the model if it returns nothing', async () => {
    const { agent, ran, status } = await hooked(broken, () => undefined)
    expect({ ran, status }).toEqual({ ran: [], status: 'completed' })
    expect(JSON.stringify(agent.messages)).toContain('Invalid arguments: not a JSON object: path = a.ts')
  })

  it('validates its arguments against the schema', async () => {
    const { agent, ran } = await hooked(broken, () => ({ arguments: { path: 7 } }))
    expect(ran).toEqual([])
    expect(JSON.stringify(agent.messages)).toContain('Invalid arguments')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
    ],
    ['returns invalid JSON', () => ({ arguments: { path: Number.NaN } })],
    ['returns a list', () => ({ arguments: JSON.parse('[]') })],
    ['returns null', () => ({ arguments: JSON.parse('null') })],
  ])('fails only the call if it %s', async (_name, hook) => {
    const { ran, warned, status } = await hooked(broken, hook)
    expect({ ran, status }).toEqual({ ran: [], status: 'completed' })
    expect(warned).toEqual(['hookFailed'])
  })

  it.each<[string, Step]>([
    ['a call cut by the output limit', { ...broken, isCut: true }],
    ['a call that ends too early', { pieces: ['{"path":"a'] }],
    ['cumulative fragments that end too early', { pieces: ['{"path"', '{"path":"a'] }],
    ['a repetition that ends too early', { pieces: ['{"path":"a"}', '{"path":"'] }],
    ['arguments inside a string that ends too early', { pieces: ['"{\\"path\\":\\"a'] }],
    ['a list that ends too early', { pieces: ['[{"path":"a"}'] }],
    ['arguments with one reading', { pieces: ['{"path":"a",}'] }],
    ['valid arguments', { pieces: ['{"path":"a"}'] }],
  ])('does not call repairToolCall for %s', async (_name, step) => {
    expect((await hooked(step, () => undefined)).asked).toEqual([])
  })
})

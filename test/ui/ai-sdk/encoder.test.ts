import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  UI_MESSAGE_STREAM_HEADERS,
  type UIMessage,
  uiMessageChunkSchema,
  validateUIMessages,
} from 'ai'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../../src/agents.ts'
import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentRun,
  type AgentTool,
  memorySessionStore,
  PhiError,
} from '../../../src/index.ts'
import { asEmitted } from '../../../src/internal.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import {
  historyIndexOf,
  outputOf,
  readChatRequest,
  toUiMessages,
  type UiChunk,
  uiMessageEncoder,
  uiMessageSse,
  uiMessageStreamHeaders,
} from '../../../src/ui/ai-sdk.ts'
import type { ToolDecision } from '../../../src/ui/shared/client-input.ts'
import { coalesce } from '../../store/arbitrary-run.ts'
import { add } from '../../support/play.ts'
import { asks, copy, recordRun, scenarios } from '../scenarios.ts'
import { encoded, read } from './read-chunks.ts'

/** A message without what only events tell. */
function comparable(message: UIMessage | undefined): unknown {
  if (message === undefined) return undefined
  const { status: _status, totalUsage: _total, totalCostUsd: _cost, ...metadata } = Object(message.metadata)
  const parts = message.parts.map((part) => {
    // The stream has the name of a file beside it.
    if (part.type === 'file') return { type: part.type, mediaType: part.mediaType, url: part.url }
    if (part.type !== 'dynamic-tool') return part
    const { toolMetadata: _details, ...rest } = part
    const { approval, ...asked } = rest
    // The stream names the request alone: AI SDK 6 knows no chunk for a decision and its reason.
    if (part.state === 'output-denied') return { ...asked, approval: { id: part.approval?.id } }
    return part.state === 'approval-requested' ? rest : asked
  })
  // Calls of sub-agents are in no history.
  return { ...message, metadata, parts: parts.filter((part) => part.type !== 'dynamic-tool' || !part.toolCallId.includes('/')) }
}

async function whole(history: readonly AgentMessage[]): Promise<unknown> {
  const last = toUiMessages(history).at(-1)
  return last?.role === 'assistant' ? comparable(copy(last) as UIMessage) : undefined
}

it('shows the last partial image, and a file', async () => {
  const { events } = await (scenarios['a picture and a file'] ?? raise('a picture'))()
  const finer = events.flatMap((event): AgentEvent[] => {
    if (event.type !== 'messageUpdate' || event.delta.type !== 'block' || event.delta.block.type !== 'image') return [event]
    return [{ ...event, delta: { ...event.delta, block: { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgoAAAA=' } } }, event]
  })
  expect(finer.length).toBe(events.length + 1)
  const files = encoded(finer).filter(({ type }) => type === 'file')
  expect(files).toEqual([
    { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0KGgo=' },
    { type: 'file', mediaType: 'text/csv', url: 'data:text/csv;base64,YSxi', providerMetadata: { phi: { filename: 'a.csv' } } },
  ])
})

it('shows the transcript of audio after its file, live and in history', async () => {
  const { events, after } = await (scenarios['sound and its transcript'] ?? raise('a sound'))()
  for (const message of [await read(encoded(events)), copy(toUiMessages(after).at(-1)) as UIMessage]) {
    expect(message?.parts.filter(({ type }) => type !== 'step-start')).toMatchObject([
      { type: 'file', mediaType: 'audio/wav' },
      { type: 'text', text: 'Good morning.' },
    ])
  }
})

it("shows a response's sources and hosted tools", async () => {
  const shown = async (name: string) => {
    const { events } = await (scenarios[name] ?? raise(name))()
    return (await read(encoded(events)))?.parts.filter(({ type }) => type !== 'step-start' && type !== 'text')
  }
  const told = {
    citations: [
      { contentIndex: 0, citedText: 'a drink', range: { start: 0, end: 14 } },
      { contentIndex: 0, range: { start: 4, end: 9 } },
    ],
  }
  expect(await shown('sources')).toEqual([
    { type: 'source-url', sourceId: 'source-1.0', url: 'https://tea.example/a', title: 'Tea', providerMetadata: { phi: told } },
    expect.objectContaining({ type: 'source-document', mediaType: 'application/pdf', title: 'Report' }),
    // Not an address that a page may link.
    expect.objectContaining({ type: 'source-document', title: 'no address' }),
  ])
  const tool = { type: 'dynamic-tool', providerExecuted: true, toolName: 'web_search' }
  expect(await shown('a tool of the service that fails')).toMatchObject([{ ...tool, state: 'output-error', errorText: 'too_many' }])
  expect(await shown('a tool of the service that ends in a later turn')).toMatchObject([
    { ...tool, state: 'output-available', output: [{ url: 'https://tea.example' }] },
    { toolName: 'add' },
  ])
})

it('allows a client decision while a hosted tool is open', async () => {
  for (const name of ['a tool of the service is open while nobody answers', 'a tool of the service that nobody allows']) {
    const { events, after } = await (scenarios[name] ?? raise(name))()
    for (const message of [await read(encoded(events)), copy(toUiMessages(after).at(-1)) as UIMessage]) {
      const parts = message?.parts.map((part) =>
        part.type === 'dynamic-tool' && part.state === 'approval-requested'
          ? { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved: true } }
          : part,
      )
      const messages = [{ ...message, parts }] as UIMessage[]
      expect(lastAssistantMessageIsCompleteWithApprovalResponses({ messages }), name).toBe(true)
    }
  }
})

function raise(name: string): never {
  throw new Error(`No scenario ${name}`)
}

describe.each(Object.entries(scenarios))('%s', (name, play) => {
  it('emits chunks that pass the AI SDK schema', async () => {
    const { events, before } = await play()
    const schema = await uiMessageChunkSchema
    for (const chunk of encoded(events, { history: before })) {
      const checked = await (typeof schema === 'function' ? schema() : schema).validate?.(chunk)
      expect(checked, JSON.stringify(chunk)).toMatchObject({ success: true })
    }
  })

  it('decodes to the original history', async () => {
    const { events, before, after } = await play()
    const message = await read(encoded(events, { history: before }))
    // A hook's arguments are in no history.
    if (name === 'other arguments by a hook') expect(JSON.stringify(message)).toContain('"input":{"amount":1}')
    else expect(comparable(message)).toEqual(await whole(after))
  })

  it('sends a resuming client the same message, however its events are joined', async () => {
    const { events, before } = await play()
    const all = comparable(await read(encoded(events, { history: before })))
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length), fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async (cut, merge) => {
        const seen = encoded(coalesce(events.slice(0, cut), merge), { history: before })
        const first = await read(seen.filter(({ type }) => type !== 'finish'))
        // A replay begins with `start`, and the hook builds the message again.
        const again = await read(encoded(coalesce(events, merge), { history: before, restate: true }), first && { ...first, parts: [] })
        expect(comparable(again)).toEqual(all)
      }),
      { numRuns: 20 },
    )
  })

  it('ends every block and finishes once', async () => {
    const { events, before } = await play()
    const chunks = encoded(events, { history: before })
    const open = new Set<string>()
    for (const chunk of chunks) {
      if (chunk.type === 'text-start' || chunk.type === 'reasoning-start') {
        expect(open.size).toBe(0)
        open.add(chunk.id)
      }
      if (chunk.type === 'text-end' || chunk.type === 'reasoning-end') expect(open.delete(chunk.id)).toBe(true)
    }
    expect(open.size).toBe(0)
    expect(chunks.filter(({ type }) => type === 'start')).toHaveLength(1)
    expect(chunks.filter(({ type }) => type === 'finish')).toHaveLength(1)
    expect(chunks.at(-1)?.type).toBe('finish')
    const tools = chunks.filter((chunk) => chunk.type === 'tool-input-start' || chunk.type === 'tool-input-available')
    expect(tools.every((chunk) => chunk.dynamic)).toBe(true)
  })

  it('converts messages to valid UI messages', async () => {
    const { after } = await play()
    const messages = copy(toUiMessages(after)) as UIMessage[]
    if (messages.length > 0) expect(await validateUIMessages({ messages })).toHaveLength(messages.length)
    else expect(after).toEqual([])
  })
})

describe('a run with pending approvals', () => {
  /** A page in front of a run: its answer ends where the run waits, and what a person decides begins the next one. */
  async function conversation(
    tools: AgentTool[],
    script: Script,
    decide: (run: AgentRun, decisions: readonly ToolDecision[]) => void,
    options = {},
  ) {
    const agent = new Agent({ model: scripted(script), tools, ...options })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(copy(asEmitted(event))))
    const run = agent.prompt('go')
    const responses: UiChunk[][] = []
    let encoder = uiMessageEncoder()
    let chunks: UiChunk[] = []
    let message: UIMessage | undefined
    const quiet = () => new Promise((resolve) => setImmediate(resolve))
    for (let at = 0; at < events.length || message === undefined || !events.some(({ type }) => type === 'agentEnd'); ) {
      const event = events[at]
      if (event !== undefined) {
        at += 1
        chunks.push(...encoder.encode(event))
        continue
      }
      await quiet()
      if (events[at] !== undefined || encoder.waiting === 'no') continue
      chunks.push(...encoder.suspend())
      responses.push(copy(chunks))
      message = await read(copy(chunks), message)
      const answered = {
        ...message,
        parts: message?.parts.map((part) =>
          part.type === 'dynamic-tool' && part.state === 'approval-requested'
            ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
            : part,
        ),
      }
      message = copy(answered) as UIMessage
      expect(lastAssistantMessageIsCompleteWithApprovalResponses({ messages: [message] })).toBe(true)
      const request = readChatRequest({ id: 's', trigger: 'submit-message', messageId: message.id, messages: [message] })
      encoder = uiMessageEncoder()
      chunks = []
      for (const seen of events.slice(0, at)) encoder.skip(seen)
      decide(run, request.value?.decisions ?? [])
    }
    chunks.push(...encoder.end())
    responses.push(copy(chunks))
    return { agent, responses, message: await read(copy(chunks), message) }
  }
  const approve = (run: AgentRun, decisions: readonly ToolDecision[]) => {
    for (const decision of decisions) run.approve(decision)
  }
  const calls = {
    text: 'Two.',
    toolCalls: [
      { name: 'pay', arguments: { amount: 1 } },
      { name: 'add', arguments: { a: 1, b: 2 } },
    ],
  }

  it.each(['parallel', 'sequential'] as const)('lets the client respond, and continues in the next response: %s', async (toolExecution) => {
    const { agent, responses, message } = await conversation([asks, add], [calls, { text: 'Done.' }], approve, { toolExecution })
    expect(responses).toHaveLength(2)
    expect(responses.map(([first]) => first)).toEqual([first(agent), first(agent)])
    expect(comparable(message)).toEqual(await whole(agent.messages))
  })

  it('forwards the approval request of a sub-agent', async () => {
    const helper = new SubAgentTool({
      name: 'helper',
      description: 'Helps.',
      model: scripted([{ toolCalls: [calls.toolCalls[0] ?? never()] }, { text: 'ok' }]),
      tools: [asks],
    })
    const { agent, responses, message } = await conversation(
      [helper],
      [{ toolCalls: [{ name: 'helper', arguments: { task: 'pay' } }] }, { text: 'Done.' }],
      approve,
    )
    expect(responses).toHaveLength(2)
    expect(comparable(message)).toEqual(await whole(agent.messages))
    const asked = message?.parts.find((part) => part.type === 'dynamic-tool' && part.title === 'helper: pay')
    expect(asked).toMatchObject({ state: 'output-available', input: { amount: 1 } })
  })

  it('continues a paused run in another run', async () => {
    const agent = new Agent({ model: scripted([calls, { text: 'Done.' }]), tools: [asks, add], approvalTimeoutMs: 1 })
    const paused = await recordRun(agent, () => agent.prompt('go'))
    const message = await read(encoded(paused.events))
    const { before, events, after } = await recordRun(
      agent.with({ approvalTimeoutMs: 60_000 }),
      (same) => same.continueLoop(),
      (event, run) => event.type === 'approvalRequested' && run.approve(event),
    )
    const went = encoded(events, { history: before })
    expect(went[0]).toEqual({ type: 'start', messageId: message?.id })
    expect(comparable(await read(went, message))).toEqual(await whole(after))
    // A page that was loaded again, and resumes.
    expect(comparable(await read(encoded(events, { history: before, restate: true })))).toEqual(await whole(after))
  })

  function first(agent: Agent) {
    return { type: 'start', messageId: agent.messages.find(({ role }) => role === 'assistant')?.id }
  }
  const never = (): never => {
    throw new Error('there is one')
  }
})

it('leaves the previous response unchanged after a rejected prompt', async () => {
  const agent = new Agent({
    model: scripted([{ text: 'One.' }]),
    inputFilters: [(text) => (text === 'no' ? { type: 'reject', reason: 'not that' } : { type: 'pass' })],
  })
  await agent.prompt('yes').result
  const { events, before } = await recordRun(agent, () => agent.prompt('no'))
  expect(encoded(events, { history: before })).toEqual([
    { type: 'start' },
    { type: 'error', errorText: expect.stringContaining('not that') },
    { type: 'finish', finishReason: 'error' },
  ])
})

it('reports its own errors and hides foreign ones', () => {
  const fail = (error: unknown) =>
    uiMessageEncoder()
      .fail(error)
      .map((chunk) => (chunk.type === 'error' ? chunk.errorText : chunk.type))
  expect(fail(new PhiError('x', 'the log is gone'))).toEqual(['start', 'the log is gone', 'finish'])
  expect(fail(new Error('secret of somebody'))).toEqual(['start', 'The event stream of the run failed.', 'finish'])
})

it('sends the headers of the AI SDK, with no-store', () => {
  const { connection: _hop, ...headers } = UI_MESSAGE_STREAM_HEADERS
  // Theirs may be stored: in Firefox one tab then waits for another.
  expect(uiMessageStreamHeaders).toEqual({ ...headers, 'cache-control': 'no-store' })
})

it('takes no more time per delta than the AI SDK itself', () => {
  const bytes = uiMessageSse({ type: 'text-delta', id: '1.0', delta: '' }).length
  expect(bytes).toBeLessThanOrEqual(56)
})

it('finds the history position of a UI message', async () => {
  const agent = new Agent({
    model: scripted([{ text: 'I add.', toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'One.' }, { text: 'Two.' }]),
    tools: [add],
  })
  await agent.prompt({ role: 'user', id: 'mine', content: 'first' }).result
  await agent.prompt('second').result
  const shown = toUiMessages(agent.messages)
  expect(shown.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  expect(shown[0]?.id).toBe('mine')
  expect(shown.map(({ id }) => historyIndexOf(agent.messages, id))).toEqual([0, 1, 4, 5])
  expect(historyIndexOf(agent.messages, 'nobody')).toBeUndefined()
})

it('restores the same value of a JSON response after a reload', async () => {
  const words = { type: 'array', items: { type: 'string' } } as const
  const agent = new Agent({
    model: scripted([
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] },
      { text: '{"value":["a","b"]}' },
      { text: '{"value":1}' },
    ]),
    tools: [add],
    session: memorySessionStore(),
  })
  const { events } = await recordRun(agent, () => agent.prompt('go', { responseFormat: words }))
  await agent.prompt('more').result
  const stored = await agent.settings.session?.load(agent.sessionId)
  const messages = stored?.loops.flatMap((loop) => loop.messages) ?? []
  const [first, second] = toUiMessages(messages).filter(({ role }) => role === 'assistant')
  expect(first && outputOf(first)).toEqual(['a', 'b'])
  expect(outputOf((await read(encoded(events))) ?? { parts: [] })).toEqual(['a', 'b'])
  expect(second && outputOf(second)).toBeUndefined()
})

it("reports a response's cost over all model calls", async () => {
  const usage = { input: 100, output: 10 }
  const cost = () => 0.5
  const agent = new Agent({
    model: scripted([
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }], usage },
      { text: 'ok', usage },
    ]),
    tools: [add],
  })
  const { events } = await recordRun(agent, () => agent.prompt('go'))
  const message = await read(encoded(events, { cost }))
  const told = { model: 'scripted', provider: 'scripted', costUsd: 1, usage: { input: 200, output: 20, totalTokens: 220 } }
  expect(message?.metadata).toMatchObject({ ...told, status: 'completed', totalUsage: { input: 200 } })
  expect(toUiMessages(agent.messages, { cost }).at(-1)?.metadata).toMatchObject(told)
})

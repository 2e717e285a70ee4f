import { HttpAgent, type Message } from '@ag-ui/client'
import { EventSchema, MessageSchema } from '@ag-ui/core/schemas'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { Agent, type AgentEvent, type AgentRun, PhiError } from '../../../src/index.ts'
import { asEmitted } from '../../../src/internal.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { AgUiEncoderOptions } from '../../../src/ui/ag-ui/encoder-contract.ts'
import { type AgUiEvent, type AgUiMessage, agUiEncoder, agUiHeaders, agUiSse, readRunInput, toAgUiMessages } from '../../../src/ui/ag-ui.ts'
import { coalesce } from '../../store/arbitrary-run.ts'
import { add } from '../../support/play.ts'
import { runs } from '../../support/runs.ts'
import { asks, copy, recordRun, scenarios } from '../scenarios.ts'

function encoded(events: readonly AgentEvent[], options: AgUiEncoderOptions = {}): AgUiEvent[] {
  const encoder = agUiEncoder(options)
  return copy([...events.flatMap((event) => encoder.encode(event)), ...encoder.end()])
}

/** What an unmodified client of AG-UI makes of `events`, which its verifier has to let pass, on top of the messages it has. */
async function read(events: readonly AgUiEvent[], messages: readonly AgUiMessage[] = []) {
  const client = clientOf(() => events, messages)
  await client.runAgent()
  return copy(client.messages)
}

/** A client in front of a server that answers with these events. */
function clientOf(answer: (body: string) => readonly AgUiEvent[] | Promise<readonly AgUiEvent[]>, messages: readonly AgUiMessage[] = []) {
  const fetch = async (_url: string, { body }: RequestInit) => {
    const events = await answer(String(body))
    return new Response(events.map(agUiSse).join(''), { headers: agUiHeaders })
  }
  return new HttpAgent({ url: 'http://127.0.0.1', threadId: 't', initialMessages: copy(messages) as Message[], fetch })
}

/** Messages without what only events tell, results in any order: they are shown when they are there. */
function comparable(messages: readonly (Message | AgUiMessage)[]): unknown[] {
  const ofAgent = messages.filter((message) => !('subagentRunId' in message) || message.subagentRunId === undefined)
  // Of a snapshot, so that the thoughts of a client are replaced.
  const own = ofAgent.filter(({ id }) => id !== 'phi.reasoning')
  const known = own.map((message) => {
    // Images that come while the run goes on are in the history alone.
    if (message.role === 'user' && typeof message.content !== 'string') return { ...message, content: textOf(message.content) }
    if (message.role !== 'assistant') return message
    // An argument that was cut off is text in the events, and nothing in the history.
    const toolCalls = message.toolCalls?.map((call) => ({
      ...call,
      function: { ...call.function, arguments: call.function.arguments.replace(/^\{"a":1,"b":2,"c".*/, '{}') },
    }))
    return { ...message, ...(toolCalls !== undefined && { toolCalls }) }
  })
  return known.toSorted((a, b) => (a.role === 'tool' && b.role === 'tool' ? a.id.localeCompare(b.id) : 0))
}

function textOf(parts: readonly { type: string; text?: string }[]): string {
  return parts.map(({ text = '' }) => text).join('')
}

describe.each(Object.entries(scenarios))('%s', (_name, play) => {
  it('emits events that pass the AG-UI schema', async () => {
    const { events, before } = await play()
    for (const event of encoded(events, { history: before }))
      expect(EventSchema.safeParse(event).error, JSON.stringify(event)).toBeUndefined()
  })

  it('decodes to the original history', async () => {
    const { events, before, after } = await play()
    const messages = await read(encoded(events, { history: before }), toAgUiMessages(before))
    expect(comparable(messages)).toEqual(comparable(copy(toAgUiMessages(after))))
  })

  it('sends the same messages to a new client and to the sender', async () => {
    const { events, before, after } = await play()
    const all = comparable(copy(toAgUiMessages(after)))
    const restated = encoded(events, { history: before, restate: true })
    expect(comparable(await read(restated))).toEqual(all)
    const said = toAgUiMessages(after)
      .filter(({ role }) => role === 'user')
      .slice(0, 1)
    if (before.length === 0 && said.length > 0) expect(comparable(await read(encoded(events), said))).toEqual(all)
  })

  it('sends the same messages to a client that reconnects anywhere', async () => {
    const { events, before, after } = await play()
    const all = comparable(copy(toAgUiMessages(after)))
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length), fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async (cut, merge) => {
        const encoder = agUiEncoder({ history: before })
        const seen = copy(coalesce(events.slice(0, cut), merge).flatMap((event) => encoder.encode(event)))
        const partial = await read(
          seen.filter(({ type }) => type !== 'RUN_ERROR'),
          toAgUiMessages(before),
        )
        const again = encoded(coalesce(events, merge), { history: before, restate: true })
        expect(comparable(await read(again, partial as AgUiMessage[]))).toEqual(all)
      }),
      { numRuns: runs(4, 20) },
    )
  })

  it('emits no empty delta and exactly one end', async () => {
    const { events, before } = await play()
    const all = encoded(events, { history: before })
    expect(all.filter((event) => 'delta' in event && event.delta === '')).toEqual([])
    expect(all.filter(({ type }) => type === 'RUN_STARTED')).toHaveLength(1)
    expect(all.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')).toHaveLength(1)
    expect(['RUN_FINISHED', 'RUN_ERROR']).toContain(all.at(-1)?.type)
  })

  it('converts messages to the AG-UI schema', async () => {
    const { after } = await play()
    for (const message of copy(toAgUiMessages(after)))
      expect(MessageSchema.safeParse(message).error, JSON.stringify(message)).toBeUndefined()
  })
})

const play = (name: string) => scenarios[name]?.() ?? Promise.reject(new Error(`no scenario ${name}`))

it('shows hosted tools, files and sources', async () => {
  const { events } = await play('a tool of the service that ends in a later turn')
  expect(await read(encoded(events))).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      toolCalls: [{ id: 'ws_1', function: { name: 'web_search', arguments: '{"query":"tea"}' } }, { function: { name: 'add' } }],
    },
    { role: 'tool', content: 'sum 3' },
    { role: 'tool', toolCallId: 'ws_1', content: '[{"url":"https://tea.example"}]' },
    { role: 'assistant', content: 'Tea, and 3.' },
  ])
  const failed = await read(encoded((await play('a tool of the service that fails')).events))
  expect(failed[2]).toMatchObject({ role: 'tool', toolCallId: 'ws_1', content: 'too_many', metadata: { isError: true } })
  const sources = await read(encoded((await play('sources')).events))
  expect(sources.at(-1)).toMatchObject({
    role: 'activity',
    activityType: 'phi.sources',
    content: {
      sources: [{ contentIndex: 0, url: 'https://tea.example/a', title: 'Tea' }, {}, { document: { unit: 'page', start: 3 } }, {}],
    },
  })
  const files = await read(encoded((await play('a picture and a file')).events))
  expect(files.slice(2)).toMatchObject([
    { activityType: 'phi.image', content: { data: 'iVBORw0KGgo=' } },
    { activityType: 'phi.file', content: { name: 'a.csv' } },
  ])
})

it('ends with the approval request of a hosted tool', async () => {
  const { events } = await play('a tool of the service that nobody allows')
  const last = encoded(events).at(-1)
  expect(last).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{ toolCallId: 'mcpr_1' }] } })
})

it('sends the user message with images to other clients', async () => {
  const { events } = await play('images')
  expect((await read(encoded(events)))[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'what?' }, { type: 'image' }] })
})

it('groups messages of a sub-agent under its call', async () => {
  const { events } = await play('a sub-agent')
  const all = encoded(events)
  const [started] = all.filter((event) => event.type === 'SUBAGENT_STARTED')
  expect(started).toMatchObject({ name: 'helper', parentToolCallId: 'mock-tool-0' })
  const said = (await read(all)).filter((message) => 'subagentRunId' in message && message.subagentRunId === started?.subagentRunId)
  expect(said.map(({ role }) => role)).toEqual(['reasoning', 'assistant', 'tool', 'assistant'])
  expect(said.at(-1)?.content).toBe('It is 3.')
  const failed = encoded((await play('a sub-agent that fails')).events)
  expect(failed.filter(({ type }) => type === 'SUBAGENT_ERROR')).toMatchObject([{ code: 'auth' }])
})

it('reports usage per model, and a total for unnamed models', async () => {
  const { events } = await play('text')
  const counts = { reasoningTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0 }
  const own = { provider: 'scripted', model: 'scripted', inputTokens: 10, outputTokens: 5, totalTokens: 15, ...counts }
  expect(encoded(events).at(-1)).toMatchObject({ usage: [own] })
  const charged = events.map((event) =>
    event.type === 'agentEnd'
      ? { ...event, totalUsage: { input: 12, output: 6, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 18 } }
      : event,
  )
  expect(encoded(charged).at(-1)).toMatchObject({ usage: [own, { inputTokens: 2, outputTokens: 1, totalTokens: 3, ...counts }] })
})

it('reports the cost before the end, if known', async () => {
  const { events } = await play('text')
  const costs = (costUsd: number | undefined) =>
    encoded(events.map(({ ...event }) => (event.type === 'agentEnd' && costUsd !== undefined ? { ...event, costUsd } : event))).slice(-2)
  expect(costs(0.5)).toMatchObject([{ type: 'CUSTOM', name: 'phi.cost', value: { costUsd: 0.5 } }, { type: 'RUN_FINISHED' }])
  expect(costs(undefined).map(({ type }) => type)).not.toContain('CUSTOM')
})

describe('a run with pending approvals', () => {
  const calls = {
    text: 'Two.',
    toolCalls: [
      { name: 'pay', arguments: { amount: 1 } },
      { name: 'add', arguments: { a: 1, b: 2 } },
    ],
  }

  it.each([
    ['parallel', true],
    ['sequential', true],
    ['parallel', false],
  ] as const)("ends with interrupts, and continues in the client's next run: %s, %s", async (toolExecution, approved) => {
    const agent = new Agent({ model: scripted([calls, { text: 'Done.' }]), tools: [asks, add], toolExecution })
    const log: AgentEvent[] = []
    agent.subscribe((event) => log.push(copy(asEmitted(event))))
    let run: AgentRun | undefined
    let seen = 0
    const client = clientOf(
      async (body) => {
        const input = readRunInput(body).value
        const encoder = agUiEncoder({ threadId: input?.threadId ?? '', runId: input?.runId ?? '' })
        for (const event of log.slice(0, seen)) encoder.skip(event)
        run ??= agent.prompt(input?.message ?? '')
        for (const { approved: isYes, ...request } of input?.decisions ?? [])
          isYes ? run.approve(request) : run.deny(request, request.reason)
        const events: AgUiEvent[] = []
        while (events.at(-1)?.type !== 'RUN_FINISHED') {
          const event = log[seen]
          if (event !== undefined) {
            seen += 1
            events.push(...encoder.encode(event))
          } else {
            await new Promise((resolve) => setImmediate(resolve))
            if (log[seen] === undefined && encoder.waiting !== 'no') events.push(...encoder.suspend())
          }
        }
        return copy(events)
      },
      [{ id: 'u1', role: 'user', content: 'go' }],
    )
    await client.runAgent()
    const [interrupt] = client.pendingInterrupts
    expect(interrupt).toMatchObject({
      reason: 'tool_call',
      toolCallId: 'mock-tool-0',
      metadata: { toolName: 'pay', arguments: { amount: 1 } },
    })
    await client.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved, reason: 'because' } }] })
    expect(client.pendingInterrupts).toEqual([])
    expect(comparable(copy(client.messages))).toEqual(comparable(copy(toAgUiMessages(agent.messages))))
    expect(textOf(agent.messages.flatMap((message) => (message.role === 'toolResult' ? message.content : [])))).toContain(
      approved ? 'paid 1' : 'The user denied this tool call: because',
    )
  })

  it('continues a paused run in another run', async () => {
    const agent = new Agent({ model: scripted([calls, { text: 'Done.' }]), tools: [asks, add], approvalTimeoutMs: 1 })
    const paused = await recordRun(agent, () => agent.prompt('go'))
    const first = encoded(paused.events)
    expect(first.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'interrupt', interrupts: [{ toolCallId: 'mock-tool-0' }] },
    })
    const { before, events, after } = await recordRun(
      agent.with({ approvalTimeoutMs: 60_000 }),
      (same) => same.continueLoop(),
      (event, run) => event.type === 'approvalRequested' && run.approve(event),
    )
    const messages = await read(encoded(events, { history: before }), toAgUiMessages(before))
    expect(comparable(messages)).toEqual(comparable(copy(toAgUiMessages(after))))
  })
})

it('reports its own errors and hides foreign ones', () => {
  const last = (error: unknown) => agUiEncoder({ threadId: 't', runId: 'r' }).fail(error).at(-1)
  expect(last(new PhiError('gone', 'the log is gone'))).toMatchObject({ type: 'RUN_ERROR', code: 'gone', message: 'the log is gone' })
  expect(last(new Error('secret of somebody'))).toMatchObject({ code: 'stream', message: 'The event stream of the run failed.' })
})

it('sends the user message with files, remote ones by URL', () => {
  const content: Content[] = [
    { type: 'text', text: 'Compare.' },
    { type: 'image', mimeType: 'image/png', url: 'https://files.example/a.png' },
    { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
    { type: 'file', mimeType: 'audio/wav', fileId: 'file_1', api: 'openai' },
  ]
  const [message] = toAgUiMessages([{ role: 'user', id: 'm', content, timestamp: 1 }])
  expect(MessageSchema.parse(message)).toMatchObject({
    content: [
      { type: 'text', text: 'Compare.' },
      { type: 'image', source: { type: 'url', value: 'https://files.example/a.png', mimeType: 'image/png' } },
      { type: 'document', source: { type: 'data', value: 'JVBERi0=', mimeType: 'application/pdf' }, metadata: { filename: 'a.pdf' } },
      { type: 'audio', source: { type: 'file', value: 'file_1', mimeType: 'audio/wav' } },
    ],
  })
})

import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { textOf, toolCallsOf, userMessage } from '../../../src/contract/message/message.ts'
import { Agent } from '../../../src/index.ts'
import type { ScriptedModel, ScriptedStep } from '../../../src/providers/scripted/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamEvent, StreamRequest } from '../../../src/types/model/provider.ts'
import { plainRequest } from '../model-call.ts'

function requestFor(model: ScriptedModel, messages: readonly Message[] = [userMessage('hello')]): StreamRequest {
  return plainRequest(model.config, { messages })
}

async function play(model: ScriptedModel, messages?: readonly Message[]): Promise<{ message: AssistantMessage; events: StreamEvent[] }> {
  const events: StreamEvent[] = []
  const message = await model.provider.stream(requestFor(model, messages), (event) => events.push(event), new AbortController().signal)
  return { message, events }
}

async function failureOf(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`)
  return error
}

describe('scripted', () => {
  it('describes itself as scripted', () => {
    const { config, credentials } = scripted([])
    expect(config).toMatchObject({ id: 'scripted', name: 'Scripted demo model', provider: 'scripted', api: 'scripted' })
    expect(credentials).toBeUndefined()
    expect(JSON.parse(JSON.stringify(config))).toEqual(config)
  })

  it('streams thinking, text and tool calls in order with deltas that form the message', async () => {
    const step: ScriptedStep = {
      thinking: 'first I think about it for a while',
      text: ['Let ', 'me ', 'look.'],
      toolCalls: [
        { name: 'read', arguments: { path: 'a/rather/long/path.ts', range: [1, 2] } },
        { id: 'mine', name: 'list', arguments: {} },
      ],
      usage: { input: 3, output: 4 },
    }
    const { message, events } = await play(scripted([step], { chunkSize: 5 }))
    expect(events[0]).toEqual({ type: 'start', message })
    expect(events[0]?.type === 'start' && events[0].message).toBe(message)
    const joined: string[] = []
    for (const event of events) if ('delta' in event) joined[event.contentIndex] = (joined[event.contentIndex] ?? '') + event.delta
    expect(joined).toEqual([step.thinking, 'Let me look.', JSON.stringify(step.toolCalls?.[0]?.arguments), '{}'])
    expect(message.content).toEqual([
      { type: 'thinking', thinking: step.thinking },
      { type: 'text', text: 'Let me look.' },
      { type: 'toolCall', id: 'mock-tool-0', name: 'read', arguments: { path: 'a/rather/long/path.ts', range: [1, 2] } },
      { type: 'toolCall', id: 'mine', name: 'list', arguments: {} },
    ])
    expect(events.filter((event) => event.type === 'toolCallDelta' && event.toolCallId === 'mock-tool-0').length).toBeGreaterThan(3)
    expect(message.stopReason).toBe('toolUse')
    expect(message.usage).toEqual({ input: 3, output: 4, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 7 })
  })

  it('numbers default call ids over the whole history', async () => {
    const model = scripted(() => ({ toolCalls: [{ name: 'a', arguments: {} }] }))
    const first = (await play(model)).message
    const second = (await play(model, [userMessage('hello'), first])).message
    expect([...toolCallsOf(first.content), ...toolCallsOf(second.content)].map((call) => call.id)).toEqual(['mock-tool-0', 'mock-tool-1'])
  })

  it.each([
    ['"hi"', 'hi'],
    ['undefined', undefined],
    ['a list', [{ text: 'hi' }]],
  ])('fails if a function returns %s instead of a response', async (shown, given) => {
    const agent = new Agent({ model: scripted((() => given) as never), logger: false })
    await expect(agent.prompt('hi').text()).rejects.toThrow(
      `The script failed: it returned ${shown} for model call 1. It must return a response, such as { text: 'hi' }.`,
    )
  })

  it('fails with both counts if the script is exhausted', async () => {
    const model = scripted([{ text: 'one' }])
    expect(textOf((await play(model)).message.content)).toBe('one')
    const error = await failureOf(play(model))
    expect(error).toMatchObject({ code: 'other', isRetryable: false })
    expect(error.message).toBe(
      'The script has run out: this is model call 2, but the list has 1 response. Add a response, or pass a function.',
    )
  })

  it('fails the run if the script has no response for it', async () => {
    const agent = new Agent({ model: scripted([]) })
    const { status, error } = await agent.prompt('hi').result
    expect([status, error?.code]).toEqual(['error', 'other'])
    await expect(agent.prompt('hi').text()).rejects.toThrow('The script has run out: this is model call 2, but the list has 0 responses.')
  })

  it('computes responses from the request and records the requests', async () => {
    const model = scripted(async (request, turn) => ({ text: `turn ${turn}: ${request.messages.length} messages` }))
    const history: Message[] = [userMessage('a')]
    expect(textOf((await play(model, history)).message.content)).toBe('turn 0: 1 messages')
    history.push(userMessage('b'))
    expect(textOf((await play(model, history)).message.content)).toBe('turn 1: 2 messages')
    expect(model.provider.requests.map((request) => request.messages.length)).toEqual([1, 2])
  })

  it('shows a delta before the response is finished', async () => {
    let open: () => void = () => undefined
    let gates = 0
    const model = scripted([{ text: ['early', 'late'] }], {
      gate: () => (++gates === 1 ? Promise.resolve() : new Promise((resolve) => (open = resolve))),
    })
    let settled = false
    const { promise: seen, resolve: see } = deferred<string>()
    const run = model.provider.stream(requestFor(model), (event) => event.type === 'text' && see(event.delta), new AbortController().signal)
    void run.finally(() => (settled = true))
    expect(await seen).toBe('early')
    expect(settled).toBe(false)
    open()
    expect(textOf((await run).content)).toBe('earlylate')
  })

  it('never splits a surrogate pair', async () => {
    const { message, events } = await play(scripted([{ text: '😀a😀b😀' }], { chunkSize: 1 }))
    expect(textOf(message.content)).toBe('😀a😀b😀')
    for (const event of events) if (event.type === 'text') expect(() => encodeURIComponent(event.delta)).not.toThrow()
  })

  it('waits between chunks if configured', async () => {
    const { message } = await play(scripted([{ text: 'slowly', delayMs: 1, chunkSize: 3 }]))
    expect(textOf(message.content)).toBe('slowly')
  })

  it('encodes the request without the key', async () => {
    const model = scripted([])
    const encoded = await model.provider.encode({ ...requestFor(model), credential: 'very-secret' })
    expect(JSON.stringify(encoded)).not.toContain('very-secret')
    expect(JSON.parse(encoded.body).messages[0].role).toBe('user')
  })

  it('rejects an invalid chunkSize or delayMs', async () => {
    expect(() => scripted([], { chunkSize: 0 })).toThrow(/chunkSize.*must be a whole number/)
    expect(() => scripted([], { delayMs: -1 })).toThrow(/delayMs/)
    expect((await failureOf(play(scripted([{ text: 'x', chunkSize: 0.5 }])))).message).toContain('chunkSize')
  })
})

describe('scripted failures', () => {
  it('fails before any output with the error of the step', async () => {
    const model = scripted([{ fail: { code: 'rateLimited', message: 'slow down', retryAfterMs: 10, status: 429 } }, { text: 'ok' }])
    const events: StreamEvent[] = []
    const error = await failureOf(model.provider.stream(requestFor(model), (event) => events.push(event), new AbortController().signal))
    expect(error).toMatchObject({ code: 'rateLimited', message: 'slow down', retryAfterMs: 10, status: 429, isRetryable: true })
    expect(error.partial).toBeUndefined()
    expect(events).toEqual([])
    expect(textOf((await play(model)).message.content)).toBe('ok')
  })

  it('fails after the text with the partial message', async () => {
    const model = scripted([
      { text: 'half', toolCalls: [{ name: 'never', arguments: {} }], fail: { code: 'network', message: 'gone', afterText: true } },
    ])
    const error = await failureOf(play(model))
    expect(error.code).toBe('network')
    expect(error.partial?.content).toEqual([{ type: 'text', text: 'half' }])
  })

  it('reports errors that a script throws', async () => {
    const thrown = await failureOf(
      play(
        scripted(() => {
          throw new Error('no idea')
        }),
      ),
    )
    expect(thrown).toMatchObject({ code: 'other', message: 'The script failed: no idea', isRetryable: false })
    const typed = await failureOf(play(scripted(() => Promise.reject(new ProviderError('auth', 'no key')))))
    expect(typed).toMatchObject({ code: 'auth', message: 'no key' })
  })
})

describe('scripted aborts', () => {
  const never = () => new Promise<never>(() => undefined)
  const endings: [string, () => ScriptedModel][] = [
    ['while the script thinks', () => scripted(never)],
    ['at the gate', () => scripted([{ text: 'x' }], { gate: never })],
    ['in a delay', () => scripted([{ text: 'x', delayMs: 1_000_000 }])],
    ['in a tool call', () => scripted([{ toolCalls: [{ name: 'a', arguments: {} }], delayMs: 1_000_000 }])],
  ]
  it.each(endings)('stops immediately: %s', async (_name, make) => {
    const model = make()
    const controller = new AbortController()
    const run = failureOf(model.provider.stream(requestFor(model), () => undefined, controller.signal))
    await Promise.resolve()
    controller.abort()
    expect((await run).code).toBe('cancelled')
  })

  it('stops before the call and from within a listener', async () => {
    const model = scripted(() => ({ text: 'a long text in many pieces', chunkSize: 1 }))
    expect((await failureOf(model.provider.stream(requestFor(model), () => undefined, AbortSignal.abort()))).code).toBe('cancelled')
    const controller = new AbortController()
    const seen: StreamEvent[] = []
    const listener = (event: StreamEvent) => {
      seen.push(event)
      if (event.type === 'text') controller.abort()
    }
    const error = await failureOf(model.provider.stream(requestFor(model), listener, controller.signal))
    expect(error.code).toBe('cancelled')
    expect(seen).toHaveLength(2)
    expect(error.partial?.content).toEqual([{ type: 'text', text: 'a' }])
  })
})

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

import { describe, expect, it } from 'vitest'
import { emptyUsage } from '../../src/context.ts'
import { type AgentEvent, type AgentMessage, userMessage } from '../../src/index.ts'
import { type AgentContext, agentLoop, continueLoop, defaultLimits, defaultRetry, type LoopConfig } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from '../support/grammar.ts'
import { ofType } from '../support/play.ts'

const entry = (message: ReturnType<typeof userMessage>): AgentMessage => ({ ...message, id: crypto.randomUUID() })

const failed: AgentMessage = {
  role: 'assistant',
  id: 'f',
  content: [],
  stopReason: 'error',
  model: 'm',
  provider: 'p',
  usage: emptyUsage(),
  timestamp: 1,
}

function setUp(script: Script, context: Partial<AgentContext> = {}, config: Partial<LoopConfig> = {}) {
  const events: AgentEvent[] = []
  const whole: AgentContext = { systemPrompt: '', messages: [], tools: [], ...context }
  const settings: LoopConfig = { model: scripted(script), ...config }
  const options = { emit: (event: AgentEvent) => void events.push(event), signal: new AbortController().signal }
  return {
    context: whole,
    events,
    start: () => agentLoop('go', whole, settings, options),
    resume: () => continueLoop(whole, settings, options),
  }
}

describe('agentLoop', () => {
  it('writes generated ids to the context', async () => {
    const { context, start } = setUp([{ text: 'x' }])
    const { loopId } = await start()
    expect(context.agentId).toMatch(/^[0-9a-f-]{36}$/)
    expect(loopId).toBe(`${context.sessionId}.scripted.scripted.1`)
    expect(context.loopId).toBe(loopId)
  })

  it('keeps the ids that the context already has', async () => {
    const ids = { agentId: 'a', sessionId: 's', loopId: 's.own.9' }
    const { context, start } = setUp([{ text: 'x' }], ids)
    expect((await start()).loopId).toBe('s.own.9')
    expect(context).toMatchObject(ids)
  })

  it('numbers loops per configuration and slugifies the model id', async () => {
    const { context, start } = setUp([{ text: 'x' }, { text: 'y' }], { sessionId: 's' })
    await start()
    expect((await start()).loopId).toBe('s.scripted.scripted.2')
    const other = setUp([{ text: 'x' }], context, { configId: 'mine' })
    expect((await other.start()).loopId).toBe('s.mine.1')
    const odd = setUp([], context, { model: scripted([], { id: 'claude-4.6:beta' }) })
    expect((await odd.start()).loopId).toBe('s.scripted.claude-4-6-beta.1')
  })

  it('reports the trigger of the first turn', async () => {
    const { events, start } = setUp([{ text: 'x' }], {}, { firstTurnTrigger: 'subAgent' })
    await start()
    expect(ofType(events, 'turnStart')[0]?.triggeredBy).toBe('subAgent')
  })

  it('rejects an empty prompt before the run starts', async () => {
    const { context, events } = setUp([])
    const options = { emit: (event: AgentEvent) => void events.push(event), signal: new AbortController().signal }
    for (const prompt of ['', '  \n', []]) {
      await expect(agentLoop(prompt, context, { model: scripted([]) }, options)).rejects.toMatchObject({ code: 'emptyPrompt' })
    }
    expect(events).toEqual([])
    expect(context.sessionId).toBeUndefined()
  })

  it.each<Partial<LoopConfig>>([
    { toolExecution: { type: 'batched', size: Number.NaN } },
    { limits: { ...defaultLimits, maxDurationMs: Number.NaN } },
    { retry: { ...defaultRetry, initialDelayMs: -1 } },
  ])('rejects invalid settings before the run starts: %o', async (config) => {
    const { context, events, start, resume } = setUp([], { messages: [entry(userMessage('q'))], agentId: 'a' }, config)
    await expect(start()).rejects.toMatchObject({ name: 'ConfigError', code: 'invalidOption' })
    await expect(resume()).rejects.toMatchObject({ name: 'ConfigError', code: 'invalidOption' })
    expect([events, context.messages.length, context.sessionId]).toEqual([[], 1, undefined])
  })

  it('ignores errors thrown by a listener', async () => {
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
    const emit = () => {
      throw new Error('listener')
    }
    const result = await agentLoop('go', context, { model: scripted([{ text: 'x' }]) }, { emit, signal: new AbortController().signal })
    expect(result.text).toBe('x')
  })
})

describe('continueLoop', () => {
  const ids = { agentId: 'a', sessionId: 's' }

  it('responds to a trailing tool result with an assistant message', async () => {
    const call = { type: 'toolCall' as const, id: 'c', name: 't', arguments: {} }
    const { start, context, resume } = setUp([{ text: 'never mind' }, { text: 'ok' }], ids)
    await start()
    context.messages.push(
      { ...(context.messages[1] as Extract<AgentMessage, { role: 'assistant' }>), id: 'm', content: [call], stopReason: 'toolUse' },
      { role: 'toolResult', id: 'r', toolCallId: 'c', toolName: 't', content: [], isError: false, timestamp: 1 },
    )
    expect((await resume()).messages.map((message) => message.role)).toEqual(['assistant'])
  })

  it('reports the parent loop and the continuation kind', async () => {
    const { context, events, start, resume } = setUp([{ text: 'x' }, { text: 'y' }], ids)
    const first = await start()
    context.messages.push(entry(userMessage('more')))
    await resume()
    expect(ofType(events, 'agentStart')[1]).toMatchObject({
      parentLoopId: first.loopId,
      continuationKind: { kind: 'default' },
      loopId: 's.scripted.scripted.2',
    })
    expect(ofType(events, 'turnStart')[1]?.triggeredBy).toBe('continuation')
    const half = events.findIndex((event, index) => index > 0 && event.type === 'agentStart')
    expect(grammarFaults(events.slice(half))).toEqual([])
  })

  it("reports the trigger of a branch's first turn as branch", async () => {
    const branch = { kind: 'branch' as const, tag: 'b' }
    const { events, resume } = setUp([{ text: 'x' }], { ...ids, continuationKind: branch, messages: [entry(userMessage('q'))] })
    await resume()
    expect(ofType(events, 'agentStart')[0]?.continuationKind).toEqual(branch)
    expect(ofType(events, 'turnStart')[0]?.triggeredBy).toBe('branch')
  })

  it.each<[string, Partial<AgentContext>]>([
    ['missingIds', { messages: [entry(userMessage('q'))] }],
    ['emptyHistory', ids],
    ['emptyHistory', { ...ids, messages: [{ role: 'extension', id: 'e', kind: 'note', data: 1 }] }],
    ['emptyHistory', { ...ids, messages: [failed] }],
  ])('rejects the call with code %s', async (code, context) => {
    const { events, resume } = setUp([], context)
    await expect(resume()).rejects.toMatchObject({ name: 'ConfigError', code })
    expect(events).toEqual([])
  })

  it('rejects a trailing assistant message with trailingAssistant', async () => {
    const { start, resume } = setUp([{ text: 'x' }], ids)
    await start()
    await expect(resume()).rejects.toMatchObject({ code: 'trailingAssistant' })
  })
})

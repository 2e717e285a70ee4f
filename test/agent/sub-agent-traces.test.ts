import { afterEach, describe, expect, it, vi } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentEvent, type AgentOptions, memorySessionStore, textOf } from '../../src/index.ts'
import { createBudget } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, tool } from '../support/play.ts'

afterEach(() => void vi.useRealTimers())

type Options = Partial<ConstructorParameters<typeof SubAgentTool>[0]>
const rates = { inputPerMillion: 1e6, outputPerMillion: 1e6, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
// Next to nothing: the cost that counts is the sub-agent's.
const free = { ...rates, inputPerMillion: 1e-9, outputPerMillion: 0 }
const delegate = { toolCalls: [{ id: 'p1', name: 'helper', arguments: { task: 'Work.' } }], usage: { input: 10, output: 1 } }

/** An agent whose sub-agent answers once, then works on without end. */
function setup(own: Options = {}, options: Partial<AgentOptions> = {}) {
  const store = memorySessionStore()
  const hangs = gate()
  const begun = gate()
  const endless = tool('endless', (_, ctx) => {
    begun.open()
    return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
  })
  const model = scripted([{ text: 'half of it', toolCalls: [{ name: 'endless', arguments: {} }], usage: { input: 100, output: 5 } }], {
    config: { cost: rates },
  })
  const helper = new SubAgentTool({
    name: 'helper',
    description: 'Helps.',
    model,
    tools: [endless],
    session: store,
    forward: 'events',
    ...own,
  })
  const script = [delegate, { text: 'done', usage: { input: 20, output: 2 } }]
  const agent = new Agent({ model: scripted(script, { config: { cost: free } }), tools: [helper], session: store, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, events, store, begun, hangs }
}

/** What a cut-off sub-agent has left: in the events, in the result, in both sessions. */
async function trace({ agent, events, store }: ReturnType<typeof setup>) {
  const [end] = ofType(events, 'toolExecutionEnd')
  const childLoopId = end?.childLoopId ?? ''
  const inner = ofType(events, 'childEvent').map(({ event }) => event)
  const [ref] = (await store.load(agent.sessionId)).loops[0]?.childLoopRefs ?? []
  const child = await store.load(ref?.childSessionId ?? '')
  return { end, childLoopId, inner, ref, child, text: textOf(end?.result.content ?? []) }
}

describe.each(['timeout', 'abort'] as const)('a sub-agent ended by its %s', (how) => {
  it("records the sub-agent's end, usage, loop and linked sessions", async () => {
    const played = setup(how === 'timeout' ? { timeoutMs: 20 } : {})
    const run = played.agent.prompt('go')
    await played.begun.opened
    if (how === 'abort') run.abort()
    const { status, totalUsage, usage } = await run.result
    expect(status).toBe(how === 'timeout' ? 'completed' : 'aborted')
    expect(grammarFaults(played.events)).toEqual([])
    expect(unansweredCalls(played.agent.messages)).toEqual([])
    const { end, childLoopId, inner, ref, child, text } = await trace(played)
    expect(text).toBe(how === 'timeout' ? 'Tool exceeded timeout of 20ms' : 'Cancelled')
    expect(end?.isError).toBe(true)
    expect(end?.result.details).toMatchObject({ subAgent: 'helper', status: 'aborted', usage: { input: 100, output: 5 } })
    expect(inner.at(-1)).toMatchObject({ type: 'agentEnd', status: 'aborted', loopId: childLoopId, usage: { input: 100 } })
    expect(grammarFaults(inner)).toEqual([])
    expect(ref).toMatchObject({ toolCallId: 'p1', toolName: 'helper', childLoopId })
    expect(child.parentSpawnRef).toMatchObject({ parentSessionId: played.agent.sessionId, toolCallId: 'p1', toolName: 'helper' })
    expect(child.loops).toMatchObject([{ loopId: childLoopId, status: 'aborted' }])
    expect(totalUsage.input - usage.input).toBe(100)
    expect(played.events.at(-1)).toMatchObject({ type: 'agentEnd', totalUsage })
  })
})

describe('total usage of a run', () => {
  it('includes sub-agents and charging tools in the result and agentEnd', async () => {
    const model = scripted([{ text: 'found', usage: { input: 100, output: 5, cacheRead: 7 } }])
    const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model })
    const asks = tool('asks', (_, { budget }) => {
      budget.charge({ input: 1000, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1000 }, rates)
      return 'ok'
    })
    const calls = [...delegate.toolCalls, { id: 'p2', name: 'asks', arguments: {} }]
    const parent = scripted([
      { ...delegate, toolCalls: calls },
      { text: 'done', usage: { input: 20, output: 2 } },
    ])
    const agent = new Agent({ model: parent, tools: [helper, asks] })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const result = await agent.prompt('go').result
    expect(result.usage).toMatchObject({ input: 30, output: 3, cacheRead: 0 })
    expect(result.totalUsage).toMatchObject({ input: 1130, output: 8, cacheRead: 7 })
    expect(events.at(-1)).toMatchObject({ usage: result.usage, totalUsage: result.totalUsage })
  })

  it('equals its own usage if nothing else was charged', async () => {
    const result = await new Agent({ model: scripted([{ text: 'hi', usage: { input: 3 } }]) }).prompt('go').result
    expect(result.totalUsage).toEqual(result.usage)
  })

  it('counts usage of every source toward maxCost', async () => {
    const { agent, begun } = setup({ timeoutMs: 20 }, { limits: { maxCost: 105 } })
    const run = agent.prompt('go')
    await begun.opened
    expect((await run.result).status).toBe('limit')
  })
})

describe('createBudget', () => {
  it('shares usage between runs and ends a run when exhausted', async () => {
    const budget = createBudget({ maxTotalTokens: 100 })
    const model = scripted(() => ({ text: 'hi', usage: { input: 40, output: 10, cacheRead: 5 } }), { config: { cost: rates } })
    const agent = new Agent({ model })
    expect(budget.used()).toMatchObject({ usage: { input: 0 }, costUsd: 0 })
    for (const expected of ['completed', 'completed', 'limit']) {
      expect((await agent.prompt('go', { budget }).result).status).toBe(expected)
    }
    expect(budget.used()).toMatchObject({ usage: { input: 80, output: 20, cacheRead: 10, totalTokens: 110 }, costUsd: 100 })
    expect(budget.used().elapsedMs).toBeGreaterThan(0)
    expect(budget.exceeded()).toBe('Max tokens reached (100/100)')
  })

  it("charges a child's usage to a parent budget", () => {
    const parent = createBudget({ maxCost: 1 })
    const child = createBudget({}, parent)
    child.charge({ input: 1, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1 }, rates)
    expect(parent.used().usage.input).toBe(1)
    expect(child.exceeded()).toMatch(/^Max cost reached/)
    const copy = child.used()
    copy.usage.input = 0
    expect(child.used().usage.input).toBe(1)
  })

  it.each([{ maxCost: Number.NaN }, { maxTotalTokens: -1 }, { maxDurationMs: 'long' as never }])('rejects invalid limits: %j', (limits) => {
    expect(() => createBudget(limits)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

describe('default limits of a sub-agent', () => {
  const used = async (answer: () => object, options: Options = {}) => {
    const model = scripted(answer, { config: { cost: rates } })
    const step = tool('step', () => 'ok')
    const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model, tools: [step], ...options })
    const agent = new Agent({ model: scripted([delegate, { text: 'done' }]), tools: [helper], limits: false })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    await agent.prompt('go').result
    return { text: textOf(ofType(events, 'toolExecutionEnd')[0]?.result.content ?? []), requests: model.provider.requests }
  }
  const goingOn = (input: number) => () => ({ toolCalls: [{ name: 'step', arguments: {} }], usage: { input } })

  it('stops after 10 turns', async () => {
    const { text, requests } = await used(goingOn(1))
    expect(text).toContain('[Agent stopped: Max turns reached (10/10)]')
    expect(requests).toHaveLength(10)
  })

  it('stops after a million tokens', async () => {
    const { text, requests } = await used(goingOn(333_334))
    expect(text).toContain('[Agent stopped: Max tokens reached (1000002/1000000)]')
    expect(requests).toHaveLength(3)
    expect((await used(goingOn(333_333))).requests).toHaveLength(4)
  })

  it('stops after five minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const takes = (ms: number) => tool('step', () => `${vi.advanceTimersByTime(ms).getMockedSystemTime()}`)
    const late = await used(goingOn(1), { tools: [takes(150_000)] })
    expect(late.text).toContain('[Agent stopped: Max duration reached (300s/300s)]')
    expect(late.requests).toHaveLength(2)
    expect((await used(goingOn(1), { tools: [takes(149_999)] })).requests).toHaveLength(3)
  })

  it('disables thinking and adds no system prompt', async () => {
    const { requests } = await used(() => ({ text: 'ok' }))
    expect(requests[0]).toMatchObject({ thinking: 'off', systemPrompt: '' })
  })
})

import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  memorySessionStore,
  resumeAgent,
  type SessionStore,
  ToolError,
  textOf,
} from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, tool } from '../support/play.ts'
import { runs } from '../support/runs.ts'

afterEach(() => void vi.useRealTimers())

const begin = (id = 'p1') => ({ id, name: 'helper', arguments: { task: 'Look.' } })
const callOf = (name: string, args: object = {}) => ({ toolCalls: [{ id: name, name, arguments: { ...args } }] })
const reportsIn = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === 'user' && message.provenanceHint?.kind === 'background' ? [textOf(message.content)] : []))

/** What holds however a run with sub-agents in the background ends. */
function sound(events: readonly AgentEvent[], messages: readonly AgentMessage[]): void {
  expect(grammarFaults(events)).toEqual([])
  expect(unansweredCalls(messages)).toEqual([])
  expect(events.filter(({ type }) => type === 'agentEnd')).toHaveLength(1)
}

/** A helper whose tool never ends by itself, and hears of its signal. */
function hanging(options: Partial<ConstructorParameters<typeof SubAgentTool>[0]> = {}) {
  const begun = gate()
  const stopped = gate()
  const hang = tool('hang', (_args, { signal }) => {
    begun.open()
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(stopped.open() ?? 'stopped'), { once: true }))
  })
  const model = scripted(() => callOf('hang'))
  const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model, tools: [hang], background: true, ...options })
  return { helper, begun, stopped }
}

function agentWith(options: AgentOptions) {
  const agent = new Agent({ logger: false, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, events }
}

describe('background tasks when a run ends', () => {
  const both = { toolCalls: [begin('p1'), begin('p2')] }
  const pay = tool('pay', () => 'paid', { needsApproval: true })
  const finish = tool('finish', () => ({ content: [], endRun: true }))

  it.each<[string, Partial<AgentOptions>, object[]]>([
    ['limit', { limits: { maxTurns: 1 } }, [both, { text: 'never' }]],
    ['error', { retry: false }, [both, { fail: { code: 'api', message: 'broken' } }]],
    ['completed', {}, [both, callOf('finish')]],
    ['paused', { approvalTimeoutMs: 1 }, [both, callOf('pay')]],
    ['completed', { stopWhen: ({ turns }) => turns === 2 }, [both, { text: 'enough' }]],
  ])('stops all background tasks of a run that ends as %s', async (status, options, script) => {
    const { helper } = hanging()
    const { agent, events } = agentWith({ model: scripted(script), tools: [helper, pay, finish], ...options })
    const result = await agent.prompt('go').result
    expect(result.status).toBe(status)
    expect(ofType(events, 'backgroundEnd').map(({ backgroundId, isError }) => [backgroundId, isError])).toEqual([
      ['helper-1', true],
      ['helper-2', true],
    ])
    expect(grammarFaults(events)).toEqual([])
    expect(result.messages.filter((message) => message.role === 'extension' && message.kind === 'backgroundReport')).toHaveLength(2)
  })

  it('runs the pending call of a continued run and reports both tasks as stopped', async () => {
    const { helper } = hanging()
    const model = scripted([both, callOf('pay'), { text: 'Paid.' }])
    const { agent } = agentWith({ model, tools: [helper, pay], approvalTimeoutMs: 1 })
    await agent.prompt('go').result
    agent.configure({ approvalTimeoutMs: undefined })
    const run = agent.continueLoop()
    run.subscribe((event) => void (event.type === 'approvalRequested' && run.approve(event)))
    const { status, text, messages } = await run.result
    expect([status, text]).toEqual(['completed', 'Paid.'])
    expect(messages.map(({ role }) => role)).toEqual(['toolResult', 'user', 'user', 'assistant'])
    expect(reportsIn(messages)).toEqual([expect.stringContaining('"helper-1"'), expect.stringContaining('"helper-2"')])
  })

  it('defers the report if a filter rejects the next prompt', async () => {
    const { helper } = hanging({ background: { onRunEnd: 'stop' } })
    const inputFilters: AgentOptions['inputFilters'] = [
      (said) => (said.includes('bad') ? { type: 'reject', reason: 'no' } : { type: 'pass' }),
    ]
    const model = scripted([{ toolCalls: [begin()] }, { text: 'a' }, { text: 'b' }])
    const { agent } = agentWith({ model, tools: [helper], inputFilters })
    await agent.prompt('go').result
    expect((await agent.prompt('bad').result).status).toBe('rejected')
    expect(reportsIn((await agent.prompt('good').result).messages)).toHaveLength(1)
  })

  it('detaches a task that ignores its signal for three seconds', async () => {
    vi.useFakeTimers()
    const begun = gate()
    const deaf = tool('deaf', () => new Promise(() => begun.open()))
    const model = scripted([callOf('deaf')])
    const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model, tools: [deaf], background: true })
    const { agent, events } = agentWith({ model: scripted([{ toolCalls: [begin()] }, { text: 'waiting' }]), tools: [helper] })
    const run = agent.prompt('go')
    await begun.opened
    run.abort()
    await vi.advanceTimersByTimeAsync(3000)
    const { status, messages } = await run.result
    expect(status).toBe('aborted')
    sound(events, messages)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('abort with background tasks', () => {
  /** A run with two sub-agents in the background, one of which asks; `act` is called with each event. */
  function everything(act: (at: number, abort: () => void) => void) {
    const look = tool('look', async () => 'seen')
    const ask = tool('ask', () => 'asked', { needsApproval: true })
    const model = scripted(({ messages }) =>
      messages.length === 1 ? { toolCalls: ['look', 'ask'].flatMap((name) => callOf(name).toolCalls) } : { text: 'bees' },
    )
    const helper = new SubAgentTool({
      name: 'helper',
      description: 'Helps.',
      model,
      tools: [look, ask],
      background: true,
      forward: 'events',
    })
    const script = [
      { toolCalls: [begin('p1'), begin('p2')] },
      callOf('background_status'),
      callOf('background_steer', { id: 'helper-1', message: 'x' }),
    ]
    const { agent, events } = agentWith({
      model: scripted([...script, ...Array.from({ length: 5 }, () => ({ text: 'ok' }))]),
      tools: [helper],
    })
    agent.subscribe((event) => void (event.type === 'approvalRequested' && agent.currentRun?.approve(event)))
    const run = agent.prompt('go')
    let at = 0
    run.subscribe(() => act(at++, () => run.abort()))
    return { agent, run, events }
  }

  it('ends every task once after an abort at any event', async () => {
    const { run, events } = everything(() => undefined)
    sound(events, (await run.result).messages)
    expect((await run.result).status).toBe('completed')
    const { length } = events
    expect(length).toBeGreaterThan(60)
    for (let stopAt = 0; stopAt < length; stopAt += 1) {
      const aborted = everything((at, abort) => at === stopAt && abort())
      const { messages } = await aborted.run.result
      sound(aborted.events, messages)
      expect(ofType(aborted.events, 'backgroundEnd')).toHaveLength(ofType(aborted.events, 'backgroundStart').length)
      const children = ofType(aborted.events, 'childEvent').map(({ event }) => event.type)
      expect(children.filter((type) => type === 'agentEnd')).toHaveLength(children.filter((type) => type === 'agentStart').length)
    }
  })

  it('ends every task once after an abort at any microtask', async () => {
    for (let tasks = 0; tasks < 400; tasks += 3) {
      const { agent, run, events } = everything(() => undefined)
      for (let task = 0; task < tasks; task += 1) await undefined
      run.abort()
      const { messages } = await run.result
      sound(events, messages)
      const next = await agent.prompt('And now?').result
      expect(next.status).toBe('completed')
      const begun = agent.messages.filter((message) => message.role === 'toolResult' && message.backgroundId !== undefined)
      expect(reportsIn(agent.messages)).toHaveLength(begun.length)
    }
  })

  it("removes its listener from the caller's signal", async () => {
    const controller = new AbortController()
    const listeners = new Set<unknown>()
    const { signal } = controller
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions) => {
      listeners.add(listener)
      add(type, listener, options)
    }
    signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
      listeners.delete(listener)
      remove(type, listener)
    }
    const { helper } = hanging({ background: { onRunEnd: 'stop' } })
    const { agent } = agentWith({ model: scripted([{ toolCalls: [begin()] }, { text: 'ok' }]), tools: [helper] })
    const run = agent.prompt('go', { signal })
    expect(listeners.size).toBe(1)
    await run.result
    expect(listeners.size).toBe(0)
  })
})

describe('background tasks after a crash', () => {
  /** The process ends while the sub-agent works: what was begun is never heard of again. */
  async function crashed(store: SessionStore, answers: object[]) {
    const { helper, begun } = hanging({ session: store })
    const waits = gate()
    const agent = new Agent({
      model: scripted([{ toolCalls: [begin()] }, ...answers]),
      tools: [helper],
      session: store,
      sessionId: 's1',
      logger: false,
    })
    agent.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === answers.length && waits.open()))
    agent.prompt('go')
    await Promise.all([begun.opened, waits.opened])
    return helper
  }

  it('reports an unknown outcome to the model without running the task again', async () => {
    const store = memorySessionStore()
    await crashed(store, [{ text: 'I wait.' }])
    const { helper, begun } = hanging()
    const model = scripted([{ text: 'I shall look.' }, { text: 'ok' }])
    const agent = await resumeAgent(store, 's1', { model, tools: [helper], logger: false })
    // It had answered: what became of the sub-agent is all there is to go on for.
    const { text, messages, status } = await agent.continueLoop().result
    expect([status, text]).toEqual(['completed', 'I shall look.'])
    expect(reportsIn(messages)).toEqual([expect.stringMatching(/^\[Background: "helper-1" was cut off: .*outcome is unknown/)])
    let ran = false
    void begun.opened.then(() => (ran = true))
    expect((await agent.prompt('ok?').result).messages).toHaveLength(2)
    expect(ran).toBe(false)
    // The other session names the call that began it.
    const others = (await store.listIds()).filter((id) => id !== 's1')
    expect(others).toHaveLength(1)
  })

  it('reports the outcome before the next prompt and continues the ids', async () => {
    const store = memorySessionStore()
    await crashed(store, [{ text: 'I wait.' }])
    const { helper } = hanging({ background: { onRunEnd: 'stop' } })
    const model = scripted([{ toolCalls: [begin()] }, { text: 'ok' }])
    const agent = await resumeAgent(store, 's1', { model, tools: [helper], logger: false })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const { messages } = await agent.prompt('Again.').result
    expect(messages.slice(0, 2).map((message) => ('content' in message ? textOf(message.content).slice(0, 30) : ''))).toEqual([
      expect.stringContaining('"helper-1"'),
      'Again.',
    ])
    expect(ofType(events, 'backgroundStart')[0]?.backgroundId).toBe('helper-2')
    sound(events, messages)
  })
})

describe('background tasks in a random order', () => {
  const anyRun = fc.record({
    /** Of each sub-agent: whether the run waits for it, how many microtasks its tool takes, whether it fails. */
    children: fc.array(fc.record({ waits: fc.boolean(), tasks: fc.nat(120), fails: fc.boolean() }), { minLength: 1, maxLength: 4 }),
    /** Turns that the model takes with a tool of its own. */
    turns: fc.nat(4),
    abortAfter: fc.option(fc.nat(300), { nil: undefined }),
    steerAfter: fc.option(fc.nat(300), { nil: undefined }),
  })

  it('ends and reports each sub-agent exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ children, turns, abortAfter, steerAfter }) => {
        const helpers = children.map(({ waits, tasks, fails }, at) => {
          const work = tool('work', async () => {
            await microtasks(tasks)
            if (fails) throw new ToolError('failed', 'no')
            return 'worked'
          })
          const model = scripted([callOf('work'), { text: `report ${at}` }])
          const background = { onRunEnd: waits ? ('wait' as const) : ('stop' as const) }
          return new SubAgentTool({ name: `helper${at}`, description: 'Helps.', model, tools: [work], background })
        })
        const calls = helpers.map(({ name }) => ({ id: name, name, arguments: { task: 'Look.' } }))
        const own = Array.from({ length: turns }, () => callOf('own'))
        // As many answers as there may be reports, one by one, and words of a person.
        const rest = Array.from({ length: children.length + 5 }, () => ({ text: 'ok' }))
        const model = scripted([{ toolCalls: calls }, ...own, ...rest])
        const { agent, events } = agentWith({ model, tools: [...helpers, tool('own', async () => 'done')] })
        const run = agent.prompt('go')
        if (abortAfter !== undefined) void microtasks(abortAfter).then(() => run.abort())
        if (steerAfter !== undefined) void microtasks(steerAfter).then(() => run.followUp('And?'))
        const { messages, status } = await run.result
        sound(events, messages)
        const started = ofType(events, 'backgroundStart').map(({ backgroundId }) => backgroundId)
        expect(
          ofType(events, 'backgroundEnd')
            .map(({ backgroundId }) => backgroundId)
            .toSorted(),
        ).toEqual(started.toSorted())
        if (status === 'completed') {
          const waitedFor = children.flatMap(({ waits }, at) => (waits ? [`helper${at}`] : []))
          for (const name of waitedFor) expect(reportsIn(messages).join()).toContain(`"${name}-`)
        }
        // The second one, where a run that was stopped at once has left the beginning to the first.
        await agent.prompt('And now?').result
        await agent.prompt('And then?').result
        const told = reportsIn(agent.messages)
        const begun = agent.messages.flatMap((message) =>
          message.role === 'toolResult' && message.backgroundId ? [message.backgroundId] : [],
        )
        expect(told.map((report) => /"(helper\d-\d)"/.exec(report)?.[1]).toSorted()).toEqual(begun.toSorted())
      }),
      { numRuns: runs(60, 3000) },
    )
  })
})

async function microtasks(tasks: number): Promise<void> {
  for (let task = 0; task < tasks; task += 1) await undefined
}

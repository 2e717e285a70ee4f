import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, type Receipt, textOf } from '../../src/index.ts'
import { type AgentContext, agentLoop, type LoopConfig, type MessageSupplier } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import type { Journal } from '../../src/session.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, seen, tool } from '../support/play.ts'

const twoCalls = { toolCalls: [1, 2, 3].map((n) => ({ name: 'step', arguments: { n } })) }

/** Starts a run; `act` gets the agent and each event. */
async function steered(script: Script, act: (agent: Agent, event: AgentEvent) => void, options: Partial<AgentOptions> = {}) {
  const model = scripted(script)
  const agent = new Agent({ model, tools: [tool('step', () => 'ok')], ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => {
    events.push(event)
    act(agent, event)
  })
  const result = await agent.prompt('go').result
  expect(grammarFaults(events)).toEqual([])
  return { agent, events, model, result }
}

/** Acts at the first event of a type. */
function once(type: AgentEvent['type'], act: (agent: Agent) => void) {
  let isDone = false
  return (agent: Agent, event: AgentEvent) => {
    if (event.type !== type || isDone) return
    isDone = true
    act(agent)
  }
}

const lastTexts = (model: ReturnType<typeof scripted>, request: number) =>
  model.provider.requests[request]?.messages.filter((m) => m.role === 'user').map((m) => textOf(m.content))

describe('steering', () => {
  it('skips the remaining sequential calls and joins the next request', async () => {
    const { agent, model, result } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionEnd', (agent) => agent.steer('stop that')),
      { toolExecution: { type: 'sequential' } },
    )
    const texts = result.messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    expect(texts[0]).toBe('ok')
    expect(texts.slice(1)).toEqual(['Skipped due to queued user message.', 'Skipped due to queued user message.'])
    expect(lastTexts(model, 1)?.[1]).toBe('stop that')
    expect(unansweredCalls(agent.messages)).toEqual([])
  })

  it('skips the remaining batches of calls', async () => {
    const { result } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionEnd', (agent) => agent.steer('stop')),
      { toolExecution: { type: 'batched', size: 2 } },
    )
    const errors = result.messages.flatMap((message) => (message.role === 'toolResult' ? [message.isError] : []))
    expect(errors).toEqual([false, false, true])
  })

  it('waits until all parallel tools have finished', async () => {
    const { result, model } = await steered(
      [twoCalls, { text: 'ok' }],
      once('toolExecutionStart', (agent) => agent.steer('and now')),
    )
    const errors = result.messages.flatMap((message) => (message.role === 'toolResult' ? [message.isError] : []))
    expect(errors).toEqual([false, false, false])
    expect(lastTexts(model, 1)).toEqual(['go', 'and now'])
  })

  it('continues a run that would have ended', async () => {
    const { events, result } = await steered(
      [{ text: 'one' }, { text: 'two' }],
      (agent, event) => event.type === 'messageUpdate' && event.delta.type === 'text' && event.delta.delta === 'one' && agent.steer('more'),
    )
    expect(ofType(events, 'turnStart').map((event) => event.triggeredBy)).toEqual(['user', 'continuation'])
    expect(result.text).toBe('two')
  })

  it('delivers one message per turn by default and all at once in mode all', async () => {
    const counts: number[] = []
    for (const steeringMode of ['oneAtATime', 'all'] as const) {
      const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
      const agent = new Agent({ model, steeringMode })
      agent.steer('first')
      agent.steer('second')
      await agent.prompt('go').result
      counts.push(model.provider.requests.length)
      expect(lastTexts(model, 0)).toEqual(steeringMode === 'all' ? ['go', 'first', 'second'] : ['go', 'first'])
    }
    expect(counts).toEqual([2, 1])
  })
})

/** Steers once, where `point` says, in a run of two calls and an answer; the history as roles and texts. */
async function steeredAt(point: string, options: Partial<AgentOptions>) {
  const model = scripted([twoCalls, { text: 'one' }, { text: 'two' }, { text: 'three' }])
  let isDone = false
  const receipts: Receipt[] = []
  const at = (where: string, agent: Agent) => {
    if (where !== point || isDone) return
    isDone = true
    receipts.push(agent.steer('A'), agent.steer('B'))
  }
  const step = tool('step', ({ n }) => {
    at(`tool ${n}`, agent)
    return 'ok'
  })
  const agent: Agent = new Agent({
    model,
    tools: [step],
    hooks: {
      beforeTurn: ({ turnIndex }) => at(`beforeTurn ${turnIndex}`, agent),
      afterTurn: ({ turnIndex }) => at(`afterTurn ${turnIndex}`, agent),
      afterToolExecution: ({ toolCallId }) => at(`afterTool ${toolCallId}`, agent),
    },
    ...options,
  })
  at('idle', agent)
  const events: AgentEvent[] = []
  agent.subscribe((event) => {
    events.push(event)
    if (event.type === 'messageUpdate' && event.delta.type === 'text' && event.delta.delta === 'one') at('answer', agent)
  })
  const { status } = await agent.prompt('go').result
  expect(status).toBe('completed')
  expect(grammarFaults(events)).toEqual([])
  expect(unansweredCalls(agent.messages)).toEqual([])
  expect(receipts.map((receipt) => receipt.status)).toEqual(['delivered', 'delivered'])
  const said = agent.messages.flatMap((m) => {
    if (m.role === 'user') return [textOf(m.content)]
    if (m.role === 'toolResult') return [m.isError ? 'skipped' : 'ok']
    return m.role === 'assistant' ? [`<${textOf(m.content)}>`] : []
  })
  return said.join(' ')
}

describe.each(['parallel', 'sequential', 'batched'] as const)('the six steering checkpoints, %s', (type) => {
  const toolExecution = type === 'batched' ? { type, size: 2 } : { type }
  /** What of three calls runs when steering comes during the first. */
  const ran = { parallel: 'ok ok ok', sequential: 'ok skipped skipped', batched: 'ok ok skipped' }[type]
  const all = 'ok ok ok'

  it.each([
    // On loop re-entry: what was queued while idle opens the run.
    [
      'idle',
      `go A B <> ${all} <one>`,
      `go A <> ok ${type === 'parallel' ? 'ok ok' : type === 'sequential' ? 'skipped skipped' : 'ok skipped'} B <one>`,
    ],
    // Before a turn, after its hook.
    ['beforeTurn 0', `go A B <> ${all} <one>`, `go A <> ${ran} B <one>`],
    ['beforeTurn 1', `go <> ${all} A B <one>`, `go <> ${all} A <one> B <two>`],
    // Between tools, between batches, after all.
    ['tool 1', `go <> ${ran} A B <one>`, `go <> ${ran} A <one> B <two>`],
    ['tool 3', `go <> ${all} A B <one>`, `go <> ${all} A <one> B <two>`],
    // After a turn.
    ['afterTurn 0', `go <> ${all} A B <one>`, `go <> ${all} A <one> B <two>`],
    ['afterTurn 1', `go <> ${all} <one> A B <two>`, `go <> ${all} <one> A <two> B <three>`],
    // Never within an answer.
    ['answer', `go <> ${all} <one> A B <two>`, `go <> ${all} <one> A <two> B <three>`],
  ])('delivers steering queued at %s', async (point, together, oneByOne) => {
    expect(await steeredAt(point, { toolExecution, steeringMode: 'all' })).toBe(together)
    expect(await steeredAt(point, { toolExecution, steeringMode: 'oneAtATime' })).toBe(oneByOne)
    // With filters the same, but for what comes after they have looked: it waits for the next turn.
    if (point.startsWith('beforeTurn')) return
    const inputFilters = [async () => ({ type: 'pass' as const })]
    expect(await steeredAt(point, { toolExecution, steeringMode: 'all', inputFilters })).toBe(together)
    expect(await steeredAt(point, { toolExecution, steeringMode: 'oneAtATime', inputFilters })).toBe(oneByOne)
  })
})

describe('follow-ups', () => {
  it('delivers follow-ups in order when the agent would stop', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const agent = new Agent({ model })
    agent.followUp('then this')
    agent.followUp('then that')
    await agent.prompt('go').result
    expect(lastTexts(model, 1)).toEqual(['go', 'then this'])
    expect(lastTexts(model, 2)).toEqual(['go', 'then this', 'then that'])
    expect(model.provider.requests[2]?.messages.at(-1)?.role).toBe('user')
  })

  it('keeps follow-ups queued for the next run when a limit ends this one', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
    const agent = new Agent({ model, limits: { maxTurns: 1, maxTotalTokens: 1e6, maxDurationMs: 1e6 } })
    const receipt = agent.followUp('later')
    expect((await agent.prompt('go').result).status).toBe('limit')
    expect(receipt.status).toBe('queued')
    agent.configure({ limits: false })
    await agent.prompt('on').result
    expect(receipt.status).toBe('delivered')
  })
})

describe('receipts', () => {
  it('changes a receipt from queued to delivered', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]) })
    const receipt = agent.steer('hello')
    expect(receipt.status).toBe('queued')
    await agent.prompt('go').result
    expect(receipt.status).toBe('delivered')
    expect(await receipt.settled).toBe('delivered')
    expect(agent.messages.map((message) => message.id)).toContain(receipt.message.id)
  })

  it('returns the input of an aborted run but keeps input queued while idle', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }], { gate: () => new Promise(() => undefined) }) })
    const idle = agent.followUp('for the next run')
    const run = agent.prompt('go')
    const owned = [run.steer('one'), agent.followUp('two')]
    run.abort()
    await run.result
    expect(owned.map((receipt) => receipt.status)).toEqual(['returned', 'returned'])
    expect(idle.status).toBe('queued')
  })

  it('returns input immediately after the run ends', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }]) })
    const run = agent.prompt('go')
    await run.result
    expect(run.steer('too late').status).toBe('returned')
    expect(run.followUp('too late').status).toBe('returned')
  })

  it('returns input when a queue is cleared', () => {
    const agent = new Agent({ model: scripted([]) })
    const receipts = [agent.steer('a'), agent.followUp('b')]
    agent.clearQueues()
    expect(receipts.map((receipt) => receipt.status)).toEqual(['returned', 'returned'])
  })

  it.each(['steer', 'followUp'] as const)('settles as delivered or returned near the end of a run: %s', async (how) => {
    const statuses = new Set<string>()
    for (let later = 0; later < 20; later += 1) {
      const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
      const run = agent.prompt('go')
      const receipts: Receipt[] = []
      const queue = async () => {
        for (let step = 0; step < later; step += 1) await undefined
        receipts.push(run[how]('more'))
      }
      let queued: Promise<void> | undefined
      run.subscribe((event) => {
        if (event.type === 'turnEnd') queued ??= queue()
      })
      await run.result
      await queued
      for (const { status, message } of receipts) {
        statuses.add(status)
        expect(
          agent.messages.some(({ id }) => id === message.id),
          `${later} steps after turnEnd`,
        ).toBe(status === 'delivered')
        expect(status, `${later} steps after turnEnd`).not.toBe('queued')
      }
    }
    expect(statuses).toEqual(new Set(['delivered', 'returned']))
  })

  it('stays correct after a reset while the old run is still ending', async () => {
    for (const how of ['steer', 'followUp'] as const) {
      const slow = gate()
      let appended = 0
      // The third record is the first input.
      const journal: Journal = { append: () => (++appended === 3 ? slow.opened : Promise.resolve()) }
      const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }]), journal })
      const old = agent.prompt('one')
      await seen(old, 'turnStart')
      agent.reset()
      const run = agent.prompt('two')
      const receipt = run[how]('for two')
      slow.open()
      await Promise.all([old.result, run.result])
      expect(receipt.status).toBe('delivered')
      expect(agent.messages.map((message) => message.id)).toContain(receipt.message.id)
    }
  })
})

describe('follow-up modes', () => {
  it.each([
    ['oneAtATime', ['go', 'go a', 'go a b', 'go a b c']],
    ['all', ['go', 'go a b c']],
  ] as const)('delivers follow-ups according to the mode: %s', async (followUpMode, requests) => {
    const model = scripted(Array.from({ length: 5 }, () => ({ text: 'ok' })))
    const agent = new Agent({ model, followUpMode })
    const receipts = ['a', 'b', 'c'].map((said) => agent.followUp(said))
    await agent.prompt('go').result
    expect(model.provider.requests.map((_, at) => lastTexts(model, at)?.join(' '))).toEqual(requests)
    expect(receipts.map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered'])
  })

  it('delivers follow-ups after steering and applies a changed mode to the next run', async () => {
    const model = scripted(Array.from({ length: 5 }, () => ({ text: 'ok' })))
    const agent = new Agent({ model })
    for (const said of ['a', 'b', 'c']) agent.followUp(said)
    agent.steer('s')
    agent.configure({ followUpMode: 'all' })
    await agent.prompt('go').result
    expect(model.provider.requests.map((_, at) => lastTexts(model, at)?.join(' '))).toEqual(['go s', 'go s a b c'])
  })
})

describe('abort with queued input', () => {
  it("returns the aborted run's input and keeps the rest for the next run", async () => {
    const model = scripted([{ text: 'never' }, { text: 'a' }, { text: 'b' }, { text: 'c' }], { gate: () => Promise.resolve() })
    const agent = new Agent({ model })
    const idle = [agent.followUp('f1'), agent.followUp('f2')]
    const run = agent.prompt('go')
    const owned: Receipt[] = []
    run.subscribe((event) => {
      if (event.type !== 'messageStart' || event.message.role !== 'assistant') return
      owned.push(run.steer('s1'), run.followUp('f3'), agent.steer('s2'), agent.followUp('f4'))
      run.abort()
      // Too late for this run, and it is not idle yet.
      owned.push(agent.steer('s3'))
    })
    await run.result
    expect(owned.map(({ status }) => status)).toEqual(Array(5).fill('returned'))
    expect(await Promise.all(owned.map(({ settled }) => settled))).toEqual(Array(5).fill('returned'))
    expect(idle.map(({ status }) => status)).toEqual(['queued', 'queued'])
    await agent.prompt('on').result
    expect(idle.map(({ status }) => status)).toEqual(['delivered', 'delivered'])
    const ids = new Set(agent.messages.map(({ id }) => id))
    expect([...idle, ...owned].map(({ message }) => ids.has(message.id))).toEqual([true, true, ...Array(5).fill(false)])
  })

  it('has no effect after a limit has ended the run and returned its input', async () => {
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), limits: { maxTurns: 1 } })
    const run = agent.prompt('go')
    const receipt = run.followUp('later')
    expect(await run.result).toMatchObject({ status: 'limit', returned: [receipt.message] })
    run.abort()
    expect(receipt.status).toBe('returned')
    agent.configure({ limits: false })
    const { returned, messages } = await agent.prompt('on').result
    expect(returned).toEqual([])
    expect(messages).not.toContainEqual(expect.objectContaining({ id: receipt.message.id }))
  })
})

describe('a message supplier that throws', () => {
  const fail = (): never => {
    throw new Error('queue is broken')
  }
  const empty = { waiting: () => false, take: () => [] }
  const afterTool = (): MessageSupplier => {
    let looks = 0
    return { ...empty, waiting: () => (++looks > 1 ? fail() : false) }
  }

  it.each<[string, Partial<LoopConfig>]>([
    ['steering, on waiting() between tools', { steering: { ...empty, waiting: fail }, toolExecution: { type: 'sequential' } }],
    ['steering, on waiting() after a turn', { steering: afterTool(), toolExecution: { type: 'sequential' } }],
    ['steering, on take()', { steering: { waiting: () => true, take: fail } }],
    ['follow-ups, on waiting()', { followUps: { ...empty, waiting: fail } }],
    ['follow-ups, on take()', { followUps: { waiting: () => true, take: fail } }],
  ])('ends the run with an error: %s', async (_, config) => {
    const events: AgentEvent[] = []
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [tool('step', () => 'ok')] }
    const model = scripted([{ toolCalls: twoCalls.toolCalls.slice(0, 2) }, { text: 'ok' }])
    const options = { emit: (event: AgentEvent) => void events.push(event), signal: new AbortController().signal }
    const result = await agentLoop('go', context, { model, ...config }, options)
    expect(result).toMatchObject({
      status: 'error',
      error: { code: 'other', message: expect.stringMatching(/^(steering|followUps) failed: queue is broken\./) },
    })
    expect(grammarFaults(events)).toEqual([])
    expect(unansweredCalls(context.messages)).toEqual([])
  })
})

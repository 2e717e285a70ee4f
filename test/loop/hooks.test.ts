import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, PhiError, type RunResult } from '../../src/index.ts'
import { type AgentContext, agentLoop, type LoopHooks } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { longHistory } from '../support/long-history.ts'
import { add, gate, ofType, play, seen, tool } from '../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const failing = { fail: { code: 'api' as const, message: 'the service is down' } }
const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

/** Hooks that note their name in `trace` after a pause, and answer `undefined`. */
function tracing(trace: string[], pause: () => Promise<void> = async () => undefined): Required<LoopHooks> {
  const note = (name: string) => async () => {
    await pause()
    trace.push(name)
    return undefined
  }
  return {
    beforeLoop: note('beforeLoop'),
    afterLoop: note('afterLoop'),
    repairToolCall: note('repairToolCall'),
    beforeTurn: note('beforeTurn'),
    afterTurn: note('afterTurn'),
    onError: note('onError'),
    beforeToolExecution: note('beforeToolExecution'),
    prepareTurn: note('prepareTurn'),
    afterAnswer: note('afterAnswer'),
    beforeToolExecutionEnd: note('beforeToolExecutionEnd'),
    afterToolExecution: note('afterToolExecution'),
    beforeToolExecutionUpdate: note('beforeToolExecutionUpdate'),
    afterToolExecutionUpdate: note('afterToolExecutionUpdate'),
    beforeCompactionStart: note('beforeCompactionStart'),
    afterCompactionEnd: note('afterCompactionEnd'),
  }
}

/** Plays with warnings of the logger, and the grammar checked. */
async function hooked(script: Script, hooks: LoopHooks, options: Partial<AgentOptions> = {}) {
  const warnings: string[] = []
  const logger = { warn: (event: string, fields?: unknown) => void warnings.push(`${event} ${JSON.stringify(fields)}`) }
  const played = await play(script, { hooks, logger, tools: [add], ...options })
  expect(grammarFaults(played.events)).toEqual([])
  expect(played.agent.isStreaming).toBe(false)
  return { ...played, warnings, types: played.events.map((event) => event.type) }
}

const throws = () => {
  throw new Error('hook is broken')
}
const rejects = () => Promise.reject(new Error('hook is broken'))

describe('hook order', () => {
  it.each([
    ['immediately', async () => undefined],
    ['after a task', tick],
  ])('calls hooks that resolve %s in the documented order around the events', async (_, pause) => {
    const trace: string[] = []
    const model = scripted([sum, { text: 'Three.' }])
    const reporting = tool('add', (__, ctx) => {
      ctx.update({ content: [{ type: 'text', text: 'half' }] })
      return 'sum 3'
    })
    const history = longHistory(20, 100)
    const contextConfig = { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } }
    const agent = new Agent({ model, tools: [reporting], hooks: tracing(trace, pause), messages: history, contextConfig })
    const shown = new Set(['agentStart', 'agentEnd', 'turnStart', 'turnEnd', 'compactionStarted', 'compactionEnded'])
    agent.subscribe(({ type }) => (shown.has(type) || type.startsWith('tool')) && trace.push(type))
    await agent.prompt('go').result
    expect(trace).toEqual([
      ...['beforeLoop', 'agentStart', 'beforeTurn', 'turnStart', 'prepareTurn'],
      ...['beforeCompactionStart', 'compactionStarted', 'compactionEnded', 'afterCompactionEnd'],
      ...['beforeToolExecution', 'toolExecutionStart', 'beforeToolExecutionUpdate', 'toolExecutionUpdate', 'afterToolExecutionUpdate'],
      ...['beforeToolExecutionEnd', 'toolExecutionEnd', 'afterToolExecution', 'turnEnd', 'afterTurn'],
      ...['beforeTurn', 'turnStart', 'prepareTurn', 'afterAnswer', 'turnEnd', 'afterTurn'],
      ...['agentEnd', 'afterLoop'],
    ])
  })

  it('awaits each hook before the next step', async () => {
    const { opened, open } = gate()
    const model = scripted([{ text: 'ok' }])
    const agent = new Agent({ model, hooks: { beforeTurn: () => opened.then(() => true) } })
    const run = agent.prompt('go')
    await seen(run, 'agentStart')
    await tick()
    expect(model.provider.requests).toHaveLength(0)
    open()
    expect((await run.result).status).toBe('completed')
  })

  it('settles the run after afterLoop, which sees an idle agent', async () => {
    const seenBy: unknown[] = []
    const agent: Agent = new Agent({
      model: scripted([{ text: 'ok' }]),
      hooks: {
        afterLoop: async ({ messages, usage, status }) => {
          await tick()
          seenBy.push({ count: messages.length, output: usage.output, status, isStreaming: agent.isStreaming })
          usage.output = 99
        },
      },
    })
    expect((await agent.prompt('go').result).usage.output).toBe(0)
    expect(seenBy).toEqual([{ count: 2, output: 0, status: 'completed', isStreaming: false }])
  })
})

describe('beforeLoop', () => {
  it('rejects the run on false but still calls afterLoop (before_loop_hook_fires, after_loop_hook_fires)', async () => {
    const ended: string[] = []
    const { agent, model, result, types } = await hooked([{ text: 'never' }], {
      beforeLoop: ({ messages }) => messages.length > 0,
      afterLoop: ({ status }) => ended.push(status),
    })
    expect(types).toEqual(['agentEnd'])
    expect(result).toMatchObject({ status: 'rejected', messages: [], rejection: 'The beforeLoop hook returned false.' })
    expect(agent.messages).toEqual([])
    expect(model.provider.requests).toEqual([])
    expect(ended).toEqual(['rejected'])
  })

  it.each([
    ['throws', throws],
    ['rejects', rejects],
  ])('ends the run with status error if it %s', async (_, beforeLoop) => {
    const { model, result, types, warnings } = await hooked([{ text: 'never' }], { beforeLoop })
    expect(types).toEqual(['agentEnd'])
    expect(result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
    expect(result.error?.message).toContain('hook is broken')
    expect(model.provider.requests).toEqual([])
    expect(warnings.join()).toContain('hookFailed')
  })

  it('leaves messages queued for the next run when it returns false', async () => {
    let may = false
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const agent = new Agent({ model, hooks: { beforeLoop: () => may } })
    const receipts = [agent.steer('steer'), agent.followUp('follow-up')]
    await agent.prompt('go').result
    expect(receipts.map(({ status }) => status)).toEqual(['queued', 'queued'])
    may = true
    await agent.prompt('go').result
    expect(receipts.map(({ status }) => status)).toEqual(['delivered', 'delivered'])
  })

  it('emits agentStart and agentEnd if aborted before or during the hook', async () => {
    for (const early of [true, false]) {
      const controller = new AbortController()
      if (early) controller.abort()
      const hooks: LoopHooks = {
        beforeLoop: () => {
          controller.abort()
          return new Promise<boolean>(() => undefined)
        },
      }
      const agent = new Agent({ model: scripted([{ text: 'never' }]), hooks })
      const types: string[] = []
      agent.subscribe(({ type }) => types.push(type))
      expect(await agent.prompt('go', { signal: controller.signal }).result).toMatchObject({ status: 'aborted', messages: [] })
      expect(types).toEqual(['agentStart', 'agentEnd'])
    }
  })
})

describe('beforeTurn', () => {
  it('ends the run when it returns false on turn 2 (before_turn_can_abort)', async () => {
    const turns: number[] = []
    const { result, types } = await hooked(() => sum, {
      beforeTurn: ({ turnIndex }) => {
        turns.push(turnIndex)
        return turnIndex < 2
      },
    })
    expect(turns).toEqual([0, 1, 2])
    expect(result).toMatchObject({ status: 'rejected', rejection: 'The beforeTurn hook returned false.' })
    expect(result.messages.filter(({ role }) => role === 'assistant')).toHaveLength(2)
    expect(types.filter((type) => type === 'turnStart')).toHaveLength(2)
    expect(types.at(-1)).toBe('agentEnd')
  })

  it.each([
    ['throws', throws],
    ['rejects', rejects],
  ])('ends the run with an error if it %s and keeps queued messages', async (_, beforeTurn) => {
    const agent = new Agent({ model: scripted([]), hooks: { beforeTurn } })
    const receipt = agent.steer('steer')
    expect(await agent.prompt('go').result).toMatchObject({ status: 'error', error: { code: 'hookFailed' }, messages: [] })
    expect(receipt.status).toBe('queued')
  })

  it('continues the turn for any value except false', async () => {
    for (const answer of [undefined, true, null, 0, '']) {
      // Programs without types answer all sorts of things.
      const hooks = { beforeTurn: () => answer } as LoopHooks
      expect((await hooked([{ text: 'ok' }], hooks)).result.status).toBe('completed')
    }
  })

  it('does not run after a limit or an abort', async () => {
    let asked = 0
    const hooks: LoopHooks = { beforeTurn: () => ++asked > 0 }
    await hooked([], hooks, { limits: { maxTurns: 0 } })
    const agent = new Agent({ model: scripted([]), hooks })
    await agent.prompt('go', { signal: AbortSignal.abort() }).result
    expect(asked).toBe(0)
  })

  it('leaves calls approved in an earlier run pending when it returns false', async () => {
    let may = true
    const ran: string[] = []
    const asks = tool('asks', () => `ran ${ran.push('x')}`, { needsApproval: true })
    const model = scripted([{ toolCalls: [{ id: 'c1', name: 'asks', arguments: {} }] }, { text: 'done' }])
    const agent = new Agent({ model, tools: [asks], approvalTimeoutMs: 1, hooks: { beforeTurn: () => may } })
    expect((await agent.prompt('go').result).status).toBe('paused')
    may = false
    expect((await agent.continueLoop().result).status).toBe('rejected')
    may = true
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect((await run.result).status).toBe('completed')
    expect(ran).toEqual(['x'])
  })
})

describe('observer hooks', () => {
  it('passes history, message, results and tokens to afterTurn (after_turn_receives_messages)', async () => {
    const turns: unknown[] = []
    await hooked(
      [
        { ...sum, usage: { input: 5, output: 2 } },
        { text: 'Three.', usage: { input: 9 } },
      ],
      {
        afterTurn: ({ messages, message, toolResults, usage, turnIndex }) =>
          turns.push([turnIndex, messages.length, message.stopReason, toolResults.length, usage.input]),
      },
    )
    expect(turns).toEqual([
      [0, 3, 'toolUse', 1, 5],
      [1, 4, 'stop', 0, 9],
    ])
  })

  it('calls afterTurn for failed and aborted turns', async () => {
    const reasons: string[] = []
    const hooks: LoopHooks = { afterTurn: ({ message }) => reasons.push(message.stopReason) }
    await hooked([failing], hooks)
    const agent = new Agent({ model: scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) }), hooks })
    const run = agent.prompt('go')
    await seen(run, 'turnStart')
    run.abort()
    await run.result
    expect(reasons).toEqual(['error', 'aborted'])
  })

  it('calls onError once per provider error before the turn ends (on_error_fires_on_provider_error)', async () => {
    const errors: string[] = []
    const network = { fail: { code: 'network' as const, message: 'cut', retryAfterMs: 0 } }
    for (const script of [[failing], Array.from({ length: 4 }, () => network)]) {
      await hooked(script, { onError: ({ error, turnIndex }) => errors.push(`${error.code} ${error.message} ${turnIndex}`) })
    }
    expect(errors).toEqual(['api the service is down 0', 'network cut. Tried 4 times. 0'])
  })

  it('skips onError for recovered retries, aborts and hook failures', async () => {
    let errors = 0
    const onError = () => ++errors
    const network = { fail: { code: 'network' as const, message: 'cut', retryAfterMs: 0 } }
    await hooked([network, { text: 'ok' }], { onError })
    await hooked([{ text: 'ok' }], { onError, beforeTurn: throws })
    const agent = new Agent({ model: scripted([{ text: 'x' }], { gate: () => new Promise(() => undefined) }), hooks: { onError } })
    const run = agent.prompt('go')
    await seen(run, 'turnStart')
    run.abort()
    await run.result
    expect(errors).toBe(0)
  })

  it.each([
    ['throw', throws],
    ['reject', rejects],
  ])('logs and ignores hooks that %s', async (_, broken) => {
    const names = ['afterLoop', 'afterTurn', 'onError', 'afterToolExecution', 'afterToolExecutionUpdate', 'afterCompactionEnd'] as const
    for (const name of names) {
      const reporting = tool('add', (__, ctx) => {
        ctx.update({ content: [] })
        return 'sum 3'
      })
      const { result, warnings } = await hooked(
        [sum, name === 'onError' ? failing : { text: 'ok' }],
        { [name]: broken },
        {
          tools: [reporting],
          messages: longHistory(20, 100),
          contextConfig: { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } },
        },
      )
      expect(result.status, name).toBe(name === 'onError' ? 'error' : 'completed')
      expect(warnings.join(), name).toContain(`"hook":"${name}"`)
      expect(warnings.join(), name).toContain('hook is broken')
    }
  })
})

describe('beforeCompactionStart', () => {
  const long = {
    messages: longHistory(20, 100),
    contextConfig: { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } },
  }

  it.each([
    ['false', () => false],
    ['throws', throws],
    ['rejects', rejects],
  ])('skips compaction without events and continues the turn: %s', async (_, beforeCompactionStart) => {
    const { events, model, result } = await hooked([{ text: 'ok' }], { beforeCompactionStart }, long)
    expect(ofType(events, 'compactionStarted')).toEqual([])
    expect(model.provider.requests[0]?.messages).toHaveLength(long.messages.length + 1)
    expect(result.status).toBe('completed')
  })

  it("awaits a hook's model call and stops waiting on an abort", async () => {
    const asked: RunResult[] = []
    const nested = new Agent({ model: scripted([{ text: 'yes' }]) })
    const { events } = await hooked(
      [{ text: 'ok' }],
      {
        beforeCompactionStart: async () => {
          asked.push(await nested.prompt('compact?').result)
          return asked[0]?.text === 'yes'
        },
      },
      long,
    )
    expect(ofType(events, 'compactionEnded')).toHaveLength(1)

    const hangs = new Agent({ model: scripted([]), ...long, hooks: { beforeCompactionStart: () => new Promise<boolean>(() => undefined) } })
    const run = hangs.prompt('go')
    await seen(run, 'messageEnd')
    await tick()
    run.abort()
    expect((await run.result).status).toBe('aborted')
  })
})

describe('hooks', () => {
  it('runs without any hooks (callbacks_are_optional)', async () => {
    expect((await hooked([sum, { text: 'ok' }], {})).result.status).toBe('completed')
    const trace: string[] = []
    for (const [name, hook] of Object.entries(tracing(trace))) {
      expect((await hooked([sum, { text: 'ok' }], { [name]: hook })).result.status).toBe('completed')
    }
  })

  it('preserves `this` for hooks that are class methods', async () => {
    class Counter implements LoopHooks {
      turns = 0
      beforeTurn() {
        this.turns += 1
        return true
      }
    }
    const counter = new Counter()
    await hooked([sum, { text: 'ok' }], counter)
    expect(counter.turns).toBe(2)
  })

  it('lets any hook abort its own run', async () => {
    for (const name of ['beforeLoop', 'beforeTurn', 'beforeToolExecution', 'afterToolExecution', 'afterTurn', 'afterLoop'] as const) {
      const agent: Agent = new Agent({ model: scripted([sum, { text: 'ok' }]), tools: [add], hooks: { [name]: () => agent.abort() } })
      const events: AgentEvent[] = []
      agent.subscribe((event) => events.push(event))
      const { status } = await agent.prompt('go').result
      expect(status, name).toBe(name === 'afterLoop' ? 'completed' : 'aborted')
      expect(grammarFaults(events), name).toEqual([])
      expect(unansweredCalls(agent.messages), name).toEqual([])
    }
  })

  it('calls hooks on a bare loop and separately for each agent run', async () => {
    const trace: string[] = []
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    await agentLoop('go', context, { model: scripted([{ text: 'ok' }]), hooks: tracing(trace) }, options)
    expect(trace).toEqual(['beforeLoop', 'beforeTurn', 'prepareTurn', 'afterAnswer', 'afterTurn', 'afterLoop'])
  })

  it('ends the run with the code hookFailed', async () => {
    const { result } = await hooked([], { beforeTurn: () => Promise.reject(new PhiError('mine', 'no')) })
    expect(result.error).toEqual({ code: 'hookFailed', message: 'The beforeTurn hook failed: no. The run stopped.' })
  })
})

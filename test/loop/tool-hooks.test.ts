import { describe, expect, it } from 'vitest'
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  type AgentRun,
  type BeforeToolInfo,
  type Journal,
  type JournalEntry,
  type JsonObject,
  type LoopHooks,
  type ToolContext,
  textOf,
} from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { text } from '../../src/types/message.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, seen, tool } from '../support/play.ts'

const call = (id: string, args: JsonObject = { n: 1 }, name = 'step') => ({ id, name, arguments: args })
const numbered = { type: 'object' as const, properties: { n: { type: 'number' as const } }, required: ['n'] }
const skipText = 'Tool execution skipped by before_tool_execution hook.'
const failText = 'Tool execution skipped: the before_tool_execution hook failed.'
const tasks = async (count = 5) => {
  for (let n = 0; n < count; n += 1) await new Promise<void>((resolve) => setImmediate(resolve))
}

interface Setup extends Partial<AgentOptions> {
  ids?: string[]
  needsApproval?: boolean
  execute?: (args: JsonObject, ctx: ToolContext) => Promise<string> | string
  onEvent?: (event: AgentEvent, run: AgentRun) => void
}

/** Runs calls of `step` with hooks; notes with which arguments the tool ran. */
function start(hooks: LoopHooks, setup: Setup = {}) {
  const { ids = ['c1'], needsApproval = false, execute, onEvent, ...options } = setup
  const ran: JsonObject[] = []
  const step = tool(
    'step',
    (args, ctx) => {
      ran.push(args)
      return execute?.(args, ctx) ?? 'ok'
    },
    { parameters: numbered, needsApproval },
  )
  const model = scripted([{ toolCalls: ids.map((id) => call(id)) }, { text: 'done' }])
  const agent = new Agent({ model, tools: [step], hooks, ...options })
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  run.subscribe((event) => {
    events.push(event)
    onEvent?.(event, run)
  })
  return { agent, events, ran, run, model }
}

async function hooked(hooks: LoopHooks, setup: Setup = {}) {
  const started = start(hooks, setup)
  const result = await started.run.result
  expect(grammarFaults(started.events)).toEqual([])
  if (result.status !== 'paused') expect(unansweredCalls(started.agent.messages)).toEqual([])
  return { ...started, result, told: ofType(started.events, 'toolExecutionEnd').map((event) => textOf(event.result.content)) }
}

const approving = (event: AgentEvent, run: AgentRun) => void (event.type === 'approvalRequested' && run.approve(event.toolCallId))
const denying = (event: AgentEvent, run: AgentRun) => void (event.type === 'approvalRequested' && run.deny(event.toolCallId, 'no'))
const order = (events: AgentEvent[]) => events.map(({ type }) => type).filter((type) => /approval|toolExecution/.test(type))

describe('beforeToolExecution', () => {
  it('gets name, id and arguments; afterToolExecution the result (tool_execution_hooks_fire)', async () => {
    const seenBy: unknown[] = []
    await hooked({
      beforeToolExecution: ({ toolName, toolCallId, args, signal }) => void seenBy.push(toolName, toolCallId, args, signal.aborted),
      afterToolExecution: ({ toolName, toolCallId, isError, result }) => seenBy.push(toolName, toolCallId, isError, textOf(result.content)),
    })
    expect(seenBy).toEqual(['step', 'c1', { n: 1 }, false, 'step', 'c1', false, 'ok'])
  })

  it('false: the call is not run, the model is told, the pair of events and the after hook come', async () => {
    const after: boolean[] = []
    const { events, ran, result, told } = await hooked({
      beforeToolExecution: async () => false,
      afterToolExecution: ({ isError }) => after.push(isError),
    })
    expect(ran).toEqual([])
    expect(told).toEqual([skipText])
    expect(order(events)).toEqual(['toolExecutionStart', 'toolExecutionEnd'])
    expect(after).toEqual([true])
    expect(result.status).toBe('completed')
  })

  it.each([
    ['throws', () => Promise.reject(new Error('secret reason'))],
    [
      'throws at once',
      () => {
        throw new Error('secret reason')
      },
    ],
  ])('that %s fails closed, for this call alone', async (_, broken) => {
    const warnings: string[] = []
    const logger = { warn: (event: string, fields?: unknown) => void warnings.push(`${event} ${JSON.stringify(fields)}`) }
    const hooks: LoopHooks = { beforeToolExecution: ({ toolCallId }) => (toolCallId === 'c1' ? broken() : true) }
    const { ran, told, result } = await hooked(hooks, { ids: ['c1', 'c2'], logger })
    expect(ran).toHaveLength(1)
    expect(told.sort()).toEqual([failText, 'ok'])
    expect(result.status).toBe('completed')
    expect(warnings.join()).toContain('secret reason')
  })

  it('is not asked about calls that cannot run', async () => {
    const asked: string[] = []
    const model = scripted([{ toolCalls: [call('a', {}, 'missing'), call('b', { n: 'x' }), call('c')] }, { text: 'done' }])
    const { told } = await hooked({ beforeToolExecution: ({ toolCallId }) => void asked.push(toolCallId) }, { model })
    expect(asked).toEqual(['c'])
    expect(told).toHaveLength(3)
  })

  it('can change neither the call nor the history through the arguments it is shown', async () => {
    const { agent, ran } = await hooked({ beforeToolExecution: ({ args }) => void Object.assign(args, { n: 'changed' }) })
    expect(ran).toEqual([{ n: 1 }])
    expect(JSON.stringify(agent.messages)).not.toContain('changed')
  })

  it('runs in strict order with sequential tools, per call in order with parallel ones', async () => {
    for (const type of ['sequential', 'parallel'] as const) {
      const trace: string[] = []
      const note = (name: string) => async (info: { toolCallId: string }) => {
        await tasks(info.toolCallId === 'c1' ? 3 : 1)
        trace.push(`${name} ${info.toolCallId}`)
      }
      const hooks: LoopHooks = {
        beforeToolExecution: note('before'),
        afterToolExecution: note('after'),
        beforeToolExecutionUpdate: note('beforeUpdate'),
        afterToolExecutionUpdate: note('afterUpdate'),
      }
      await hooked(hooks, {
        ids: ['c1', 'c2'],
        toolExecution: { type },
        execute: (_, ctx) => {
          ctx.update({ content: [] })
          return 'ok'
        },
        onEvent: (event) =>
          event.type.startsWith('toolExecution') && 'toolCallId' in event && trace.push(`${event.type} ${event.toolCallId}`),
      })
      const ofCall = (id: string) => trace.filter((line) => line.endsWith(id)).map((line) => line.split(' ')[0])
      const whole = [...['before', 'toolExecutionStart', 'beforeUpdate', 'toolExecutionUpdate', 'afterUpdate', 'toolExecutionEnd', 'after']]
      expect(ofCall('c1'), type).toEqual(whole)
      expect(ofCall('c2'), type).toEqual(whole)
      if (type === 'sequential') expect(trace.findIndex((line) => line.endsWith('c2'))).toBe(whole.length)
      else expect(trace.findIndex((line) => line.endsWith('c2'))).toBeLessThan(whole.length)
    }
  })

  it('does not delay an abort when it hangs; late, it can do nothing any more', async () => {
    const { opened, open } = gate()
    let info: BeforeToolInfo | undefined
    const started = start({
      beforeToolExecution: (given) => {
        info = given
        open()
        return new Promise<boolean>(() => undefined)
      },
    })
    await opened
    started.run.abort()
    expect((await started.run.result).status).toBe('aborted')
    expect(info?.signal.aborted).toBe(true)
    const count = started.events.length
    await expect(info?.requestApproval()).rejects.toThrow('has decided')
    await tasks()
    expect(started.events).toHaveLength(count)
    expect(started.ran).toEqual([])
    expect(grammarFaults(started.events)).toEqual([])
  })
})

describe('replaced arguments', () => {
  it('are validated, run, announced and journaled; the history keeps what the model wrote', async () => {
    const entries: JournalEntry[] = []
    const journal: Journal = { append: async ({ entry }) => void entries.push(entry) }
    const { agent, events, ran } = await hooked({ beforeToolExecution: () => ({ arguments: { n: 7 } }) }, { journal })
    expect(ran).toEqual([{ n: 7 }])
    expect(ofType(events, 'toolExecutionStart')[0]?.args).toEqual({ n: 7 })
    expect(entries.find((entry) => entry.type === 'toolIntent')).toMatchObject({ arguments: { n: 7 } })
    expect(agent.messages[1]).toMatchObject({ content: [{ type: 'toolCall', arguments: { n: 1 } }] })
  })

  it.each<[string, unknown]>([
    ['do not fit the schema', { n: 'seven' }],
    ['are nothing', undefined],
    ['are null', null],
    ['are text', 'n'],
    ['are a list', [7]],
    ['are not JSON', { n: 7n }],
  ])('that %s are refused: the old ones are not run instead', async (_, replaced) => {
    // Programs without types answer all sorts of things.
    const hooks = { beforeToolExecution: () => ({ arguments: replaced }) } as LoopHooks
    const { ran, told, result } = await hooked(hooks)
    expect(ran).toEqual([])
    expect(told[0]).toMatch(/^Invalid arguments|hook failed/)
    expect(result.status).toBe('completed')
  })

  it('cannot be changed afterwards by whoever gave them', async () => {
    const given = { n: 7 }
    const { ran, events } = await hooked(
      { beforeToolExecution: () => ({ arguments: given }) },
      {
        needsApproval: true,
        onEvent: (event, run) => {
          if (event.type !== 'approvalRequested') return
          if (event.arguments.n === 7) given.n = 666
          run.approve(event.toolCallId, { argumentsHash: event.argumentsHash })
        },
      },
    )
    expect(ran).toEqual([{ n: 7 }])
    expect(JSON.stringify(events)).not.toContain('666')
  })

  it('after an approval are asked for again, with their own hash', async () => {
    for (const how of ['tool', 'hook'] as const) {
      const hooks: LoopHooks = {
        beforeToolExecution: async ({ requestApproval }) => {
          if (how === 'hook') await requestApproval()
          return { arguments: { n: 2 } }
        },
      }
      const { events, ran } = await hooked(hooks, { needsApproval: how === 'tool', onEvent: approving })
      const asked = ofType(events, 'approvalRequested')
      expect(asked.map((event) => event.arguments)).toEqual([{ n: 1 }, { n: 2 }])
      expect(asked[0]?.argumentsHash).not.toBe(asked[1]?.argumentsHash)
      expect(ran).toEqual([{ n: 2 }])
    }
  })

  it('after a denial are asked for again too', async () => {
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => ((await requestApproval()) ? true : { arguments: { n: 2 } }),
    }
    const answers: AgentEvent[] = []
    const { ran } = await hooked(hooks, {
      onEvent: (event, run) => {
        if (event.type !== 'approvalRequested') return
        if (answers.push(event) === 1) run.deny(event.toolCallId)
        else run.approve(event.toolCallId)
      },
    })
    expect(answers).toHaveLength(2)
    expect(ran).toEqual([{ n: 2 }])
  })

  it('that nobody approves wait; those that are denied are not run', async () => {
    const hooks: LoopHooks = { beforeToolExecution: () => ({ arguments: { n: 2 } }) }
    const onEvent = (event: AgentEvent, run: AgentRun) => {
      if (event.type !== 'approvalRequested') return
      if (event.arguments.n === 1) run.approve(event.toolCallId)
    }
    const paused = await hooked(hooks, { needsApproval: true, approvalTimeoutMs: 1, onEvent })
    expect(paused.result).toMatchObject({ status: 'paused', pendingApprovals: [{ arguments: { n: 2 } }] })
    expect(paused.ran).toEqual([])
    const denied = await hooked(hooks, {
      needsApproval: true,
      onEvent: (event, run) => {
        onEvent(event, run)
        if (event.type === 'approvalRequested' && event.arguments.n === 2) run.deny(event.toolCallId)
      },
    })
    expect(denied.ran).toEqual([])
    expect(denied.told).toEqual(['The user denied this tool call'])
  })
})

describe('a hook that asks a person', () => {
  const asking: LoopHooks = { beforeToolExecution: ({ requestApproval }) => requestApproval() }

  it('waits: event, approval, then the call', async () => {
    const { events, ran, result } = await hooked(asking, { onEvent: approving })
    expect(order(events)).toEqual(['approvalRequested', 'approvalResolved', 'toolExecutionStart', 'toolExecutionEnd'])
    expect(ran).toHaveLength(1)
    expect(result.status).toBe('completed')
  })

  it('tells the model when denied, with the reason', async () => {
    const { ran, told } = await hooked(asking, { onEvent: denying })
    expect(ran).toEqual([])
    expect(told).toEqual(['The user denied this tool call: no'])
  })

  it.each<[string, LoopHooks]>([
    ['forgets to return the answer', { beforeToolExecution: async ({ requestApproval }) => void (await requestApproval()) }],
    ['does not wait for it', { beforeToolExecution: ({ requestApproval }) => void requestApproval() }],
    ['says yes all the same', { beforeToolExecution: ({ requestApproval }) => requestApproval().then(() => true) }],
    ['throws afterwards', { beforeToolExecution: ({ requestApproval }) => requestApproval().then(() => Promise.reject(new Error('x'))) }],
  ])('and %s: the no of the person is final', async (_, hooks) => {
    const { events, ran, told } = await hooked(hooks, { onEvent: denying })
    expect(ran).toEqual([])
    expect(told).toEqual(['The user denied this tool call: no'])
    expect(ofType(events, 'approvalRequested')).toHaveLength(1)
  })

  it('and says no itself after a yes, or throws: the call is not run', async () => {
    for (const [then, told] of [
      [() => false, skipText],
      [() => Promise.reject(new Error('x')), failText],
    ] as const) {
      const hooks: LoopHooks = { beforeToolExecution: ({ requestApproval }) => requestApproval().then(then) }
      const outcome = await hooked(hooks, { onEvent: approving })
      expect(outcome.ran).toEqual([])
      expect(outcome.told).toEqual([told])
    }
  })

  it('asks once, however often it asks', async () => {
    const answers: boolean[] = []
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => {
        answers.push(...(await Promise.all([requestApproval(), requestApproval()])), await requestApproval())
        return answers.every(Boolean)
      },
    }
    const { events, ran } = await hooked(hooks, { onEvent: approving })
    expect(answers).toEqual([true, true, true])
    expect(ofType(events, 'approvalRequested')).toHaveLength(1)
    expect(ran).toHaveLength(1)
  })

  it('and decides without waiting longer: the request is withdrawn', async () => {
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => {
        const answer = await Promise.race([requestApproval(), tasks(20)])
        return answer ?? false
      },
    }
    const { events, ran, result, run, told } = await hooked(hooks)
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'withdrawn by the hook that asked' }])
    expect(run.pendingApprovals()).toEqual([])
    expect(ran).toEqual([])
    expect(told).toEqual([skipText])
    expect(result.status).toBe('completed')
  })

  it('and replaces the arguments before the answer: only the new ones are asked about, then', async () => {
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => {
        void requestApproval()
        await tasks(20)
        return { arguments: { n: 2 } }
      },
    }
    const { events, ran } = await hooked(hooks, {
      onEvent: (event, run) => void (event.type === 'approvalRequested' && event.arguments.n === 2 && run.approve(event.toolCallId)),
    })
    expect(ofType(events, 'approvalResolved').map(({ approved }) => approved)).toEqual([false, true])
    expect(ran).toEqual([{ n: 2 }])
  })

  it('pauses the run when nobody answers, whatever the hook makes of it, and asks again when it goes on', async () => {
    for (const verdict of [true, false, 'throw', 'replace'] as const) {
      const hooks: LoopHooks = {
        beforeToolExecution: async ({ requestApproval }) => {
          if (await requestApproval()) return true
          if (verdict === 'throw') throw new Error('nobody')
          return verdict === 'replace' ? { arguments: { n: 2 } } : verdict
        },
      }
      const { agent, ran, result } = await hooked(hooks, { approvalTimeoutMs: 1 })
      expect(result, String(verdict)).toMatchObject({ status: 'paused', pendingApprovals: [{ toolCallId: 'c1', arguments: { n: 1 } }] })
      expect(ran).toEqual([])
      const run = agent.continueLoop()
      run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event.toolCallId))
      expect((await run.result).status).toBe('completed')
      expect(ran).toEqual([{ n: 1 }])
    }
  })

  it('is settled by an abort, at any time', async () => {
    for (let later = 0; later < 12; later += 1) {
      const { run, events, ran, agent } = start(asking)
      await seen(run, 'messageUpdate')
      for (let step = 0; step < later; step += 1) await (later % 3 === 0 ? tasks(1) : undefined)
      run.abort()
      expect((await run.result).status).toBe('aborted')
      const count = events.length
      await tasks()
      expect(events, `${later} steps later`).toHaveLength(count)
      expect(grammarFaults(events), `${later} steps later`).toEqual([])
      expect(unansweredCalls(agent.messages)).toEqual([])
      expect(run.pendingApprovals()).toEqual([])
      expect(ran).toEqual([])
    }
  })

  it('asks beside a tool that asks: the tool first', async () => {
    const { events, ran } = await hooked(asking, { needsApproval: true, onEvent: approving })
    expect(order(events).slice(0, 4)).toEqual(['approvalRequested', 'approvalResolved', 'approvalRequested', 'approvalResolved'])
    expect(ran).toHaveLength(1)
  })

  it('for several calls at the same time: each has its own answer', async () => {
    const { ran, told } = await hooked(asking, {
      ids: ['c1', 'c2', 'c3'],
      onEvent: (event, run) => {
        if (event.type !== 'approvalRequested' || run.pendingApprovals().length < 3) return
        for (const { toolCallId } of run.pendingApprovals()) {
          if (toolCallId === 'c2') run.deny(toolCallId)
          else run.approve(toolCallId)
        }
      },
    })
    expect(ran).toHaveLength(2)
    expect(told.filter((line) => line.startsWith('The user denied'))).toHaveLength(1)
  })
})

describe('update hooks', () => {
  const updating = (count: number, then: () => Promise<string> | string = () => 'ok') => ({
    execute: (_: JsonObject, ctx: ToolContext) => {
      for (let n = 1; n <= count; n += 1) ctx.update({ content: [text(`${n}`)] })
      return then()
    },
  })
  const shown = (events: AgentEvent[]) => ofType(events, 'toolExecutionUpdate').map((event) => textOf(event.partialResult.content))

  it('fire three times around three updates (async_update_hooks_fire_through_sync_bridge)', async () => {
    const fired: string[] = []
    const { events } = await hooked(
      {
        beforeToolExecutionUpdate: async ({ partialResult }) => void fired.push(`before ${textOf(partialResult.content)}`),
        afterToolExecutionUpdate: async ({ partialResult }) => fired.push(`after ${textOf(partialResult.content)}`),
      },
      updating(3),
    )
    expect(fired).toEqual(['before 1', 'after 1', 'before 2', 'after 2', 'before 3', 'after 3'])
    expect(shown(events)).toEqual(['1', '2', '3'])
  })

  it.each<[string, LoopHooks['beforeToolExecutionUpdate']]>([
    ['false', async () => false],
    ['an error', () => Promise.reject(new Error('x'))],
  ])('%s keeps an update back and its after hook; the result is the same', async (_, before) => {
    const after: string[] = []
    const { events, told } = await hooked(
      {
        beforeToolExecutionUpdate: (info) => (textOf(info.partialResult.content) === '2' ? before?.(info) : true),
        afterToolExecutionUpdate: ({ partialResult }) => after.push(textOf(partialResult.content)),
      },
      updating(3),
    )
    expect(shown(events)).toEqual(['1', '3'])
    expect(after).toEqual(['1', '3'])
    expect(told).toEqual(['ok'])
  })

  it('keep their order when the first takes longest, and have run when the call ends, also when it failed', async () => {
    for (const outcome of ['ok', 'failed']) {
      const then = () => (outcome === 'ok' ? outcome : Promise.reject(new Error(outcome)))
      let running = 0
      const atEnd: number[] = []
      const { events, told } = await hooked(
        {
          beforeToolExecutionUpdate: async ({ partialResult }) => {
            running += 1
            await tasks(4 - Number(textOf(partialResult.content)))
          },
          afterToolExecutionUpdate: async () => {
            await tasks(1)
            running -= 1
          },
        },
        { ...updating(3, then), onEvent: (event) => event.type === 'toolExecutionEnd' && atEnd.push(running) },
      )
      expect(shown(events)).toEqual(['1', '2', '3'])
      expect(atEnd).toEqual([0])
      expect(told).toEqual([outcome])
    }
  })

  it('of a tool that timed out, or was stopped, are not waited for and report nothing afterwards', async () => {
    for (const how of ['timeout', 'abort'] as const) {
      const { opened, open } = gate()
      const released = gate()
      const after: string[] = []
      const before: string[] = []
      const { run, events } = start(
        {
          beforeToolExecutionUpdate: ({ partialResult }) => {
            before.push(textOf(partialResult.content))
            open()
            return released.opened.then(() => true)
          },
          afterToolExecutionUpdate: ({ partialResult }) => after.push(textOf(partialResult.content)),
        },
        { ...updating(2, () => new Promise<string>(() => undefined)), ...(how === 'timeout' && { toolTimeoutMs: 1 }) },
      )
      await opened
      if (how === 'abort') run.abort()
      await run.result
      released.open()
      await tasks()
      expect(shown(events)).toEqual([])
      expect(before).toEqual(['1'])
      expect(after).toEqual([])
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('of a call that hung do not hold up a later call with the same id', async () => {
    let updates = 0
    const model = scripted([{ toolCalls: [call('same')] }, { toolCalls: [call('same')] }, { text: 'done' }])
    const { events, result } = await hooked(
      { beforeToolExecutionUpdate: () => (++updates === 1 ? new Promise<boolean>(() => undefined) : true) },
      { model, toolTimeoutMs: 20, ...updating(1) },
    )
    expect(result.status).toBe('completed')
    expect(shown(events)).toEqual(['1'])
  })

  it('see copies: a tool that goes on changing its update changes nothing', async () => {
    const { events } = await hooked(
      { beforeToolExecutionUpdate: () => tasks(2).then(() => true) },
      {
        execute: (_, ctx) => {
          const block = text('first')
          ctx.update({ content: [block] })
          block.text = 'changed'
          return 'ok'
        },
      },
    )
    expect(shown(events)).toEqual(['first'])
  })
})

import { describe, expect, it } from 'vitest'
import { type AgentEvent, type AgentRun, textOf } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { Journal, JournalEntry } from '../../../src/session.ts'
import type { BeforeToolInfo } from '../../../src/types/run/hooks.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { gate, ofType } from '../../support/play.ts'
import { approving, call, failText, hooked, order, skipText, start, tasks } from '../../support/tool-hooks.ts'

describe('beforeToolExecution', () => {
  it('receives name, id and arguments before the call, and the result after it (tool_execution_hooks_fire)', async () => {
    const seenBy: unknown[] = []
    await hooked({
      beforeToolExecution: ({ toolName, toolCallId, args, signal }) => void seenBy.push(toolName, toolCallId, args, signal.aborted),
      afterToolExecution: ({ toolName, toolCallId, isError, result }) => seenBy.push(toolName, toolCallId, isError, textOf(result.content)),
    })
    expect(seenBy).toEqual(['step', 'c1', { n: 1 }, false, 'step', 'c1', false, 'ok'])
  })

  it('skips the call on false but still emits both events and calls afterToolExecution', async () => {
    const after: boolean[] = []
    const {
      events,
      ran,
      result,
      results: told,
    } = await hooked({
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
      'throws synchronously',
      () => {
        throw new Error('secret reason')
      },
    ],
  ])('fails closed for one call if it %s', async (_, broken) => {
    const warnings: string[] = []
    const logger = { warn: (event: string, fields?: unknown) => void warnings.push(`${event} ${JSON.stringify(fields)}`) }
    const hooks: LoopHooks = { beforeToolExecution: ({ toolCallId }) => (toolCallId === 'c1' ? broken() : true) }
    const { ran, results: told, result } = await hooked(hooks, { ids: ['c1', 'c2'], logger })
    expect(ran).toHaveLength(1)
    expect(told.sort()).toEqual([failText, 'ok'])
    expect(result.status).toBe('completed')
    expect(warnings.join()).toContain('secret reason')
  })

  it('runs only for calls that can execute', async () => {
    const asked: string[] = []
    const model = scripted([{ toolCalls: [call('a', {}, 'missing'), call('b', { n: 'x' }), call('c')] }, { text: 'done' }])
    const { results: told } = await hooked({ beforeToolExecution: ({ toolCallId }) => void asked.push(toolCallId) }, { model })
    expect(asked).toEqual(['c'])
    expect(told).toHaveLength(3)
  })

  it('receives a copy of the arguments, so mutations have no effect', async () => {
    const { agent, ran } = await hooked({ beforeToolExecution: ({ args }) => void Object.assign(args, { n: 'changed' }) })
    expect(ran).toEqual([{ n: 1 }])
    expect(JSON.stringify(agent.messages)).not.toContain('changed')
  })

  it('runs in strict order for sequential tools and per call for parallel ones', async () => {
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

  it('does not delay an abort when it hangs, and has no effect afterwards', async () => {
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
    await expect(info?.requestApproval()).rejects.toThrow('has already returned')
    await tasks()
    expect(started.events).toHaveLength(count)
    expect(started.ran).toEqual([])
    expect(grammarFaults(started.events)).toEqual([])
  })
})

describe('arguments replaced by beforeToolExecution', () => {
  it('validates, runs, announces and journals them, and keeps the original in the history', async () => {
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
    ['are undefined', undefined],
    ['are null', null],
    ['are a string', 'n'],
    ['are a list', [7]],
    ['are not JSON', { n: 7n }],
  ])('fails the call if they %s', async (_, replaced) => {
    // Programs without types answer all sorts of things.
    const hooks = { beforeToolExecution: () => ({ arguments: replaced }) } as LoopHooks
    const { ran, results: told, result } = await hooked(hooks)
    expect(ran).toEqual([])
    expect(told[0]).toMatch(/^Invalid arguments|hook failed/)
    expect(result.status).toBe('completed')
  })

  it('ignores later mutations by the hook', async () => {
    const given = { n: 7 }
    const { ran, events } = await hooked(
      { beforeToolExecution: () => ({ arguments: given }) },
      {
        needsApproval: true,
        onEvent: (event, run) => {
          if (event.type !== 'approvalRequested') return
          if (event.args.n === 7) given.n = 666
          run.approve(event)
        },
      },
    )
    expect(ran).toEqual([{ n: 7 }])
    expect(JSON.stringify(events)).not.toContain('"n":666')
  })

  it('requests a new approval with a new hash after an approval', async () => {
    for (const how of ['tool', 'hook'] as const) {
      const hooks: LoopHooks = {
        beforeToolExecution: async ({ requestApproval }) => {
          if (how === 'hook') await requestApproval()
          return { arguments: { n: 2 } }
        },
      }
      const { events, ran } = await hooked(hooks, { needsApproval: how === 'tool', onEvent: approving })
      const asked = ofType(events, 'approvalRequested')
      expect(asked.map((event) => event.args)).toEqual([{ n: 1 }, { n: 2 }])
      expect(asked[0]?.argumentsHash).not.toBe(asked[1]?.argumentsHash)
      expect(ran).toEqual([{ n: 2 }])
    }
  })

  it('requests a new approval after a denial', async () => {
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => ((await requestApproval()) ? true : { arguments: { n: 2 } }),
    }
    const answers: AgentEvent[] = []
    const { ran } = await hooked(hooks, {
      onEvent: (event, run) => {
        if (event.type !== 'approvalRequested') return
        if (answers.push(event) === 1) run.deny(event.toolCallId)
        else run.approve(event)
      },
    })
    expect(answers).toHaveLength(2)
    expect(ran).toEqual([{ n: 2 }])
  })

  it('keeps the call pending until approved and skips it when denied', async () => {
    const hooks: LoopHooks = { beforeToolExecution: () => ({ arguments: { n: 2 } }) }
    const onEvent = (event: AgentEvent, run: AgentRun) => {
      if (event.type !== 'approvalRequested') return
      if (event.args.n === 1) run.approve(event)
    }
    const paused = await hooked(hooks, { needsApproval: true, approvalTimeoutMs: 1, onEvent })
    expect(paused.result).toMatchObject({ status: 'paused', pendingApprovals: [{ args: { n: 2 } }] })
    expect(paused.ran).toEqual([])
    const denied = await hooked(hooks, {
      needsApproval: true,
      onEvent: (event, run) => {
        onEvent(event, run)
        if (event.type === 'approvalRequested' && event.args.n === 2) run.deny(event.toolCallId)
      },
    })
    expect(denied.ran).toEqual([])
    expect(denied.results).toEqual(['The user denied this tool call'])
  })
})

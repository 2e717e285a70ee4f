import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { gate, ofType, seen } from '../../support/play.ts'
import { approving, denying, failText, hooked, order, skipText, start, tasks } from '../../support/tool-hooks.ts'

describe('beforeToolExecution with requestApproval', () => {
  const asking: LoopHooks = { beforeToolExecution: ({ requestApproval }) => requestApproval() }

  it('emits the request and runs the call once approved', async () => {
    const { events, ran, result } = await hooked(asking, { onEvent: approving })
    expect(order(events)).toEqual(['approvalRequested', 'approvalResolved', 'toolExecutionStart', 'toolExecutionEnd'])
    expect(ran).toHaveLength(1)
    expect(result.status).toBe('completed')
  })

  it('sends the denial and its reason to the model', async () => {
    const { ran, results: told } = await hooked(asking, { onEvent: denying })
    expect(ran).toEqual([])
    expect(told).toEqual(['The user denied this tool call: no'])
  })

  it.each<[string, LoopHooks]>([
    ['does not return the decision', { beforeToolExecution: async ({ requestApproval }) => void (await requestApproval()) }],
    ['does not await it', { beforeToolExecution: ({ requestApproval }) => void requestApproval() }],
    ['returns true anyway', { beforeToolExecution: ({ requestApproval }) => requestApproval().then(() => true) }],
    ['throws afterwards', { beforeToolExecution: ({ requestApproval }) => requestApproval().then(() => Promise.reject(new Error('x'))) }],
  ])('treats a denial as final if the hook %s', async (_, hooks) => {
    const { events, ran, results: told } = await hooked(hooks, { onEvent: denying })
    expect(ran).toEqual([])
    expect(told).toEqual(['The user denied this tool call: no'])
    expect(ofType(events, 'approvalRequested')).toHaveLength(1)
  })

  it('skips an approved call if the hook then returns false or throws', async () => {
    for (const [then, told] of [
      [() => false, skipText],
      [() => Promise.reject(new Error('x')), failText],
    ] as const) {
      const hooks: LoopHooks = { beforeToolExecution: ({ requestApproval }) => requestApproval().then(then) }
      const outcome = await hooked(hooks, { onEvent: approving })
      expect(outcome.ran).toEqual([])
      expect(outcome.results).toEqual([told])
    }
  })

  it('requests approval once, even if the hook asks repeatedly', async () => {
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

  it('withdraws the request if the hook decides without waiting', async () => {
    const asked = gate()
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => (await Promise.race([requestApproval(), asked.opened])) ?? false,
    }
    const onEvent = (event: AgentEvent) => void (event.type === 'approvalRequested' && asked.open())
    const { events, ran, result, run, results: told } = await hooked(hooks, { onEvent })
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'withdrawn by its hook' }])
    expect(run.pendingApprovals()).toEqual([])
    expect(ran).toEqual([])
    expect(told).toEqual([skipText])
    expect(result.status).toBe('completed')
  })

  it('replaces the pending request if the hook replaces the arguments', async () => {
    const asked = gate()
    const hooks: LoopHooks = {
      beforeToolExecution: async ({ requestApproval }) => {
        void requestApproval()
        await asked.opened
        return { arguments: { n: 2 } }
      },
    }
    const { events, ran } = await hooked(hooks, {
      onEvent: (event, run) => {
        if (event.type !== 'approvalRequested') return
        if (event.args.n === 1) asked.open()
        else run.approve(event)
      },
    })
    expect(ofType(events, 'approvalResolved').map(({ approved }) => approved)).toEqual([false, true])
    expect(ran).toEqual([{ n: 2 }])
  })

  it('pauses the run on an approval timeout and asks again on continue', async () => {
    for (const verdict of [true, false, 'throw', 'replace'] as const) {
      const hooks: LoopHooks = {
        beforeToolExecution: async ({ requestApproval }) => {
          if (await requestApproval()) return true
          if (verdict === 'throw') throw new Error('nobody')
          return verdict === 'replace' ? { arguments: { n: 2 } } : verdict
        },
      }
      const { agent, ran, result } = await hooked(hooks, { approvalTimeoutMs: 1 })
      expect(result, String(verdict)).toMatchObject({ status: 'paused', pendingApprovals: [{ toolCallId: 'c1', args: { n: 1 } }] })
      expect(ran).toEqual([])
      const run = agent.continueLoop()
      run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
      expect((await run.result).status).toBe('completed')
      expect(ran).toEqual([{ n: 1 }])
    }
  })

  it('resolves as denied on an abort at any point', async () => {
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

  it("requests the tool's own approval before the hook's", async () => {
    const { events, ran } = await hooked(asking, { needsApproval: true, onEvent: approving })
    expect(order(events).slice(0, 4)).toEqual(['approvalRequested', 'approvalResolved', 'approvalRequested', 'approvalResolved'])
    expect(ran).toHaveLength(1)
  })

  it('resolves parallel requests independently', async () => {
    const { ran, results: told } = await hooked(asking, {
      ids: ['c1', 'c2', 'c3'],
      onEvent: (event, run) => {
        if (event.type !== 'approvalRequested' || run.pendingApprovals().length < 3) return
        for (const pending of run.pendingApprovals()) {
          if (pending.toolCallId === 'c2') run.deny(pending)
          else run.approve(pending)
        }
      },
    })
    expect(ran).toHaveLength(2)
    expect(told.filter((line) => line.startsWith('The user denied'))).toHaveLength(1)
  })
})

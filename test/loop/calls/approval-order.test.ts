import { afterEach, describe, expect, it, vi } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, memorySessionStore, resumeAgent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { parseMessages, serializeMessages } from '../../../src/session.ts'
import { restoredState } from '../../../src/store.ts'
import type { ToolExecutionStrategy } from '../../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { approveWaiting, gate, ofType, seen, tool } from '../../support/play.ts'

const sequential = { type: 'sequential' } as const
const names = ['migrate', 'check', 'deploy']
const script = [{ toolCalls: names.map((name) => ({ id: name, name, arguments: { name } })) }, { text: 'done' }]

afterEach(() => void vi.useRealTimers())

/** Three tools of which `asks` need approval; notes what ran. */
function setup(toolExecution: ToolExecutionStrategy, asks: string[], options: Partial<AgentOptions> = {}) {
  const ran: string[] = []
  const tools = names.map((name) => tool(name, () => `ok ${ran.push(name)}`, { needsApproval: asks.includes(name) }))
  const agent = new Agent({ model: scripted(script), tools, toolExecution, approvalTimeoutMs: 5, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, ran, events, tools }
}

describe('a call with a pending approval', () => {
  it.each<[string, ToolExecutionStrategy, string[], string[]]>([
    ['sequential, all later calls', sequential, ['migrate'], []],
    ['sequential, earlier calls have run', sequential, ['check'], ['migrate']],
    ['batched, later batches', { type: 'batched', size: 2 }, ['migrate'], ['check']],
    ['parallel, no calls', { type: 'parallel' }, ['migrate'], ['check', 'deploy']],
  ])('delays other calls depending on the strategy: %s', async (_, strategy, asks, expected) => {
    const { agent, ran, events } = setup(strategy, asks)
    const result = await agent.prompt('go').result
    expect(result).toMatchObject({ status: 'paused', pendingApprovals: [{ toolCallId: asks[0] }] })
    expect(ran).toEqual(expected)
    expect(grammarFaults(events)).toEqual([])
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect((await run.result).status).toBe('completed')
    expect([...ran].sort()).toEqual([...names].sort())
    if (strategy.type === 'sequential') expect(ran).toEqual(names)
    expect(unansweredCalls(agent.messages)).toEqual([])
  })

  it('delays later calls until the pending call is decided', async () => {
    const { agent, ran } = setup(sequential, ['migrate'], { approvalTimeoutMs: 60_000 })
    const run = agent.prompt('go')
    await seen(run, 'approvalRequested')
    for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(ran).toEqual([])
    approveWaiting(run)
    await run.result
    expect(ran).toEqual(names)
  })

  it('runs the later calls after a denial', async () => {
    const { agent, ran } = setup(sequential, ['migrate'])
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && run.deny(event))
    expect((await run.result).status).toBe('completed')
    expect(ran).toEqual(['check', 'deploy'])
  })

  it('delays later calls during steering without skipping them', async () => {
    const { agent, ran } = setup(sequential, ['migrate'])
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalResolved' && run.steer('hurry'))
    expect((await run.result).status).toBe('paused')
    expect(ran).toEqual([])
    expect(agent.pendingApprovals()).toMatchObject([{ toolCallId: 'migrate' }])
  })
})

describe('approval wait time', () => {
  it('counts tool run time toward maxDurationMs, but not approval waits', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const limits = { maxDurationMs: 1000 }
    const { agent } = setup(sequential, ['migrate', 'check'], { approvalTimeoutMs: 60_000_000, limits })
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested') return
      vi.advanceTimersByTime(5_000_000)
      run.approve(event)
    })
    expect((await run.result).status).toBe('completed')

    const slow = tool('slow', () => {
      vi.advanceTimersByTime(1001)
      return 'ok'
    })
    const model = scripted([{ toolCalls: [{ name: 'slow', arguments: {} }] }, { text: 'late' }])
    expect((await new Agent({ model, tools: [slow], limits }).prompt('go').result).status).toBe('limit')
  })

  it('counts once for calls that are pending at the same time', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { agent } = setup({ type: 'parallel' }, names, { approvalTimeoutMs: 60_000_000, limits: { maxDurationMs: 1000 } })
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested' || run.pendingApprovals().length < 3) return
      for (const pending of run.pendingApprovals()) {
        vi.advanceTimersByTime(400)
        run.approve(pending)
      }
    })
    expect((await run.result).status).toBe('completed')
  })
})

describe('pending approvals of an earlier run', () => {
  it('appears on the agent, on a restored agent and in the restored state', async () => {
    const { agent, tools } = setup(sequential, ['migrate'])
    expect(agent.pendingApprovals()).toEqual([])
    const { pendingApprovals } = await agent.prompt('go').result
    const elsewhere = new Agent({ model: scripted([{ text: 'done' }]), tools })
    elsewhere.replaceMessages(parseMessages(serializeMessages(agent.messages)))
    const state = restoredState(elsewhere.messages)
    for (const list of [agent.pendingApprovals(), elsewhere.pendingApprovals(), state.approvals]) expect(list).toEqual(pendingApprovals)
    expect(state.tools.migrate).toMatchObject({ status: 'pendingApproval', args: { name: 'migrate' } })
    expect(state.tools.check).toMatchObject({ status: 'cancelled' })

    // What was shown before is what is asked for again.
    const [shown] = elsewhere.pendingApprovals()
    const run = elsewhere.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && shown && run.approve(shown))
    expect((await run.result).status).toBe('completed')
    expect(elsewhere.pendingApprovals()).toEqual([])
    expect(restoredState(elsewhere.messages).approvals).toEqual([])
  })

  it('matches the pending approvals of the active run', async () => {
    const { agent } = setup(sequential, ['migrate'], { approvalTimeoutMs: 60_000 })
    const run = agent.prompt('go')
    await seen(run, 'approvalRequested')
    expect(agent.pendingApprovals()).toEqual(run.pendingApprovals())
    expect(agent.pendingApprovals()).toHaveLength(1)
    run.abort()
    await run.result
    expect(agent.pendingApprovals()).toEqual([])
  })

  it('contains the arguments that a hook replaced', async () => {
    const hooks: AgentOptions['hooks'] = { beforeToolExecution: ({ toolCallId }) => ({ arguments: { name: toolCallId, isDry: true } }) }
    const never = { hooks, toolExecution: sequential, approvalTimeoutMs: 50 }
    const { agent, ran } = setup(sequential, ['migrate'], never)
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && event.args.isDry === undefined && run.approve(event))
    const { pendingApprovals } = await run.result
    expect(pendingApprovals).toMatchObject([{ args: { name: 'migrate', isDry: true } }])
    expect(agent.pendingApprovals()).toEqual(pendingApprovals)
    expect(ran).toEqual([])
  })

  it('survives a process exit', async () => {
    const store = memorySessionStore()
    const { agent, tools } = setup({ type: 'parallel' }, ['migrate', 'check'], { session: store, approvalTimeoutMs: 60_000 })
    const run = agent.prompt('go')
    await seen(run, 'toolExecutionEnd')
    const shown = run.pendingApprovals()
    expect(shown).toHaveLength(2)
    // As after a reload: nothing of the first agent but what it has written.
    const resumed = await resumeAgent(store, agent.sessionId, { model: scripted([{ text: 'done' }]), tools })
    expect(resumed.pendingApprovals()).toEqual(shown)
    expect(restoredState(resumed.messages, resumed.pendingApprovals()).approvals).toEqual(shown)
    const again = resumed.continueLoop()
    again.subscribe((event) => {
      const known = event.type === 'approvalRequested' && shown.find(({ argumentsHash }) => argumentsHash === event.argumentsHash)
      if (known) again.approve(known)
    })
    expect((await again.result).status).toBe('completed')
    run.abort()
    await run.result
  })

  it('loads approvals stored under the older key `arguments`', async () => {
    const { agent } = setup(sequential, ['migrate'])
    await agent.prompt('go').result
    const pending = agent.pendingApprovals()
    expect(pending).toHaveLength(1)
    const older = JSON.stringify(agent.messages).replaceAll('"args":', '"arguments":')
    agent.replaceMessages(JSON.parse(older))
    expect(agent.pendingApprovals()).toEqual(pending)
  })

  it('forgets pending approvals when a new prompt arrives', async () => {
    const { agent } = setup(sequential, ['migrate'])
    await agent.prompt('go').result
    await agent.prompt('never mind').result
    expect(agent.pendingApprovals()).toEqual([])
  })

  it('ignores invalid approvalPaused markers in the history', () => {
    const { agent } = setup(sequential, ['migrate'])
    const pending = { toolCallId: 'x', toolName: 'migrate', arguments: {}, argumentsHash: 'h' }
    for (const pendingApprovals of [[pending], 'x', [null], [{ toolCallId: 1 }]]) {
      const data = { toolCallIds: ['x'], pendingApprovals }
      agent.replaceMessages([{ role: 'extension', id: 'e', kind: 'approvalPaused', data, timestamp: 1 }] as never)
      expect(agent.pendingApprovals()).toEqual([])
    }
  })
})

describe('approval requests of a stopped run', () => {
  it('rejects decisions after the abort', async () => {
    const { agent, ran, events } = setup({ type: 'parallel' }, names, { approvalTimeoutMs: 60_000 })
    const asked = gate()
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && asked.open())
    await asked.opened
    const shown = run.pendingApprovals()
    run.abort()
    for (const pending of shown) expect(() => run.approve(pending)).toThrow(/is pending/)
    await run.result
    expect(ran).toEqual([])
    expect(ofType(events, 'approvalResolved').map(({ approved }) => approved)).not.toContain(true)
  })
})

import { afterEach, describe, expect, it, vi } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentEvent, type AgentOptions, type AgentTool, type ToolContext, textOf } from '../../src/index.ts'
import { agentLoop, type LoopHooks } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { initialState } from '../../src/store/state.ts'
import { reduce } from '../../src/store.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, listening, ofType, tool } from '../support/play.ts'

type Options = Partial<ConstructorParameters<typeof SubAgentTool>[0]>

afterEach(() => void vi.useRealTimers())

const childScript: Script = [{ toolCalls: [{ id: 'x1', name: 'remove', arguments: { path: 'a.txt' } }] }, { text: 'child done' }]
const delegate = { toolCalls: [{ id: 'p1', name: 'helper', arguments: { task: 'Remove a.txt.' } }] }

/** An agent with a sub-agent that wants to remove a file. */
function setup(options: Partial<AgentOptions> = {}, own: Options = {}, removeTool: Partial<AgentTool> = {}) {
  const ran: unknown[] = []
  const remove = tool('remove', (args) => `removed ${ran.push(args)}`, removeTool)
  const helper = new SubAgentTool({ name: 'helper', description: 'Helps.', model: scripted(childScript), tools: [remove], ...own })
  const agent = new Agent({ model: scripted([delegate, { text: 'done' }]), tools: [helper], ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, events, ran, remove, helper }
}

const toldBy = (events: AgentEvent[]) => ofType(events, 'toolExecutionEnd').map((event) => textOf(event.result.content))

describe('guards inherited by sub-agents', () => {
  it('rejects a child call with a parent hook', async () => {
    const seen: unknown[] = []
    const hooks: LoopHooks = {
      beforeToolExecution: ({ toolName, loopId, agentId, agentName }) => {
        seen.push([toolName, agentName, loopId, agentId])
        return toolName !== 'remove'
      },
    }
    const { agent, ran, events } = setup({ hooks })
    const { loopId } = await agent.prompt('go').result
    const child = ofType(events, 'toolExecutionEnd')[0]?.childLoopId
    expect(ran).toEqual([])
    expect(seen).toEqual([
      ['helper', undefined, loopId, agent.agentId],
      ['remove', 'helper', child, expect.not.stringContaining(agent.agentId)],
    ])
    expect(grammarFaults(events)).toEqual([])
  })

  it("prefers the child's own hooks", async () => {
    const { agent, ran } = setup({ hooks: { beforeToolExecution: ({ toolName }) => toolName === 'helper' } }, { hooks: {} })
    await agent.prompt('go').result
    expect(ran).toHaveLength(1)
  })

  it('passes loop id and agent id to each hook', async () => {
    const seen = new Map<string, unknown[]>()
    const note = (name: string) => (info: { loopId: string; agentId: string; agentName?: string }) => {
      seen.set(name, [...(seen.get(name) ?? []), [info.agentName, typeof info.loopId, typeof info.agentId]])
    }
    const names = ['beforeLoop', 'afterLoop', 'beforeTurn', 'afterTurn', 'beforeToolExecution', 'afterToolExecution'] as const
    const updates = ['beforeToolExecutionUpdate', 'afterToolExecutionUpdate'] as const
    const hooks: LoopHooks = Object.fromEntries([...names, ...updates].map((name) => [name, note(name)]))
    const { agent } = setup({ hooks })
    await agent.prompt('go').result
    for (const name of names) {
      const who = seen.get(name)
      expect(who).toContainEqual([undefined, 'string', 'string'])
      expect(who).toContainEqual(['helper', 'string', 'string'])
    }
    for (const name of updates) expect(seen.get(name)).toContainEqual([undefined, 'string', 'string'])
  })

  it("applies the parent's input filter to the task unless the child has its own", async () => {
    const judge = (said: string) =>
      said.includes('Remove') ? ({ type: 'reject', reason: 'no removing' } as const) : ({ type: 'pass' } as const)
    const watched = setup({ inputFilters: [judge] })
    await watched.agent.prompt('go').result
    expect(watched.ran).toEqual([])
    expect(toldBy(watched.events)).toEqual([expect.stringContaining('Rejected: no removing')])
    const own = setup({ inputFilters: [judge] }, { inputFilters: [] })
    await own.agent.prompt('go').result
    expect(own.ran).toHaveLength(1)
  })

  it("requires the parent's approval for the child's tool of the same name", async () => {
    const guarded = tool('remove', () => 'never', { needsApproval: true })
    for (const [rule, expected] of [
      [{}, ['remove']],
      [{ needsApproval: false }, []],
    ] as const) {
      const { agent, ran, events, helper } = setup({}, {}, rule)
      agent.configure({ tools: [guarded, helper] })
      const run = agent.prompt('go')
      run.subscribe((event) => event.type === 'approvalRequested' && run.deny(event))
      await run.result
      expect(ofType(events, 'approvalRequested').map(({ toolName }) => toolName)).toEqual(expected)
      expect(ran).toHaveLength(expected.length === 0 ? 1 : 0)
    }
  })

  it('passes guards to a loop started by a custom tool', async () => {
    const ran: unknown[] = []
    const remove = tool('remove', (args) => `removed ${ran.push(args)}`, { needsApproval: true })
    const nested = tool('helper', async (_, ctx) => {
      const context = { systemPrompt: '', messages: [], tools: [remove] }
      const config = { ...ctx.guards?.config, model: scripted(childScript) }
      const emit = () => undefined
      return (await agentLoop('go', context, config, { emit, signal: ctx.signal, budget: ctx.budget, ...ctx.guards?.options })).status
    })
    const agent = new Agent({ model: scripted([delegate, { text: 'done' }]), tools: [nested] })
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect((await run.result).status).toBe('completed')
    expect(ran).toHaveLength(1)
  })
})

it('rejects approval requests after the call has ended', async () => {
  let kept: ToolContext | undefined
  const keeping = tool('helper', (_, ctx) => {
    kept = ctx
    return 'ok'
  })
  const agent = new Agent({ model: scripted([delegate, { text: 'done' }]), tools: [keeping] })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  await agent.prompt('go').result
  const request = { toolCallId: 'x1', toolName: 'remove', args: {}, argumentsHash: 'h', runId: 'r', loopId: 'l', seq: 1 }
  const decision = await new Promise((decide) => kept?.guards?.options.approvals?.wait(request, decide))
  expect(decision).toEqual({ type: 'timeout' })
  expect(ofType(events, 'approvalRequested')).toEqual([])
})

describe('approval requests of a sub-agent', () => {
  const asks = { needsApproval: true }

  it("forwards the request to the parent run with the agent's name", async () => {
    const { agent, ran, events } = setup({}, {}, asks)
    const run = agent.prompt('go')
    const check = listening(run, (event) => {
      if (event.type !== 'approvalRequested') return
      expect(run.pendingApprovals()).toMatchObject([
        { toolCallId: 'x1', toolName: 'remove', subAgent: { toolCallId: 'p1', toolName: 'helper' } },
      ])
      run.approve(event)
    })
    expect((await run.result).status).toBe('completed')
    check()
    expect(ran).toEqual([{ path: 'a.txt' }])
    expect(grammarFaults(events)).toEqual([])
    const [requested] = ofType(events, 'approvalRequested')
    expect(requested?.subAgent?.loopId).toBe(ofType(events, 'toolExecutionEnd')[0]?.childLoopId)
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ toolCallId: 'x1', approved: true, subAgent: { toolCallId: 'p1' } }])
  })

  it('reports the denial and its reason to the sub-agent', async () => {
    const { agent, ran, events } = setup({}, {}, asks)
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'approvalRequested' && run.deny(event, 'not that one'))
    await run.result
    expect(ran).toEqual([])
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'not that one' }])
  })

  it('withdraws the request on an abort and on a timeout', async () => {
    const stopped = setup({}, {}, asks)
    const run = stopped.agent.prompt('go')
    const check = listening(run, (event) => {
      if (event.type !== 'approvalRequested') return
      run.abort()
      expect(run.pendingApprovals()).toEqual([])
      expect(() => run.approve(event)).toThrow(/is pending/)
    })
    expect((await run.result).status).toBe('aborted')
    check()
    expect(unansweredCalls(stopped.agent.messages)).toEqual([])

    const late = setup({ approvalTimeoutMs: 5 }, {}, asks)
    expect((await late.agent.prompt('go').result).status).toBe('completed')
    expect(toldBy(late.events)).toEqual([expect.stringContaining('"remove" needs approval, and no decision arrived')])

    const cut = setup({}, { timeoutMs: 5 }, asks)
    expect((await cut.agent.prompt('go').result).status).toBe('completed')
    for (const { events, ran } of [stopped, late, cut]) {
      expect(ran).toEqual([])
      expect(ofType(events, 'approvalRequested')).toHaveLength(1)
      expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false }])
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('resolves identical calls of two sub-agents separately', async () => {
    const both = { toolCalls: ['p1', 'p2'].map((id) => ({ id, name: 'helper', arguments: { task: id } })) }
    const { agent, ran, events, remove } = setup({ model: scripted([both, { text: 'done' }]) }, {}, asks)
    const helper = new SubAgentTool({
      name: 'helper',
      description: 'Helps.',
      model: scripted((request) => (request.messages.length === 1 ? (childScript[0] as never) : { text: 'child done' })),
      tools: [remove],
    })
    agent.configure({ tools: [helper] })
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested') return
      if (event.subAgent?.toolCallId === 'p2') run.approve(event)
      else run.deny(event)
    })
    await run.result
    expect(ran).toHaveLength(1)
    expect(grammarFaults(events)).toEqual([])
  })

  it('does not count the wait against parent or sub-agent', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { agent } = setup({ limits: { maxDurationMs: 1000 } }, { maxDurationMs: 1000 }, asks)
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested') return
      vi.advanceTimersByTime(1_000_000)
      run.approve(event)
    })
    expect(await run.result).toMatchObject({ status: 'completed' })
  })

  it('adds the request to the UI state next to the parent call', async () => {
    const { agent, events } = setup({}, {}, asks)
    const run = agent.prompt('go')
    let waiting = initialState()
    const check = listening(run, (event) => {
      waiting = reduce(waiting, event)
      if (event.type !== 'approvalRequested') return
      expect(waiting.approvals).toMatchObject([{ toolCallId: 'x1', subAgent: { toolCallId: 'p1' } }])
      expect(waiting.tools).toMatchObject({ p1: { status: 'running' } })
      expect(waiting.tools.x1).toBeUndefined()
      run.approve(event)
    })
    await run.result
    check()
    expect(waiting.approvals).toEqual([])
    expect(events.reduce(reduce, initialState())).toEqual(waiting)
  })

  it('pauses a loop that outlives its call', async () => {
    const remove = tool('remove', () => 'removed', asks)
    let left: Promise<{ status: string }> | undefined
    const leaving = tool('helper', async (_args, { guards, budget }) => {
      const context = { systemPrompt: '', messages: [], tools: [remove] }
      const shown = gate()
      left = agentLoop(
        'Remove a.txt.',
        context,
        { model: scripted(childScript), ...guards?.config },
        {
          ...guards?.options,
          emit: ({ type }) => type === 'approvalRequested' && shown.open(),
          signal: new AbortController().signal,
          budget,
        },
      )
      await shown.opened
      return 'over'
    })
    const { agent, events } = setup({ tools: [leaving] })
    expect((await agent.prompt('go').result).status).toBe('completed')
    expect(await left).toMatchObject({ status: 'paused' })
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'the call that asked is over' }])
  })
})

import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Agent, type AgentEvent, type AgentOptions, type AgentRun, ConfigError, defineTool, textOf } from '../../../src/index.ts'
import { Approvals, agentLoop } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { parseMessages, serializeMessages } from '../../../src/session.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { approveWaiting, listening, ofType, tool } from '../../support/play.ts'

const calls = [{ id: 'c1', name: 'remove', arguments: { path: 'a.txt' } }]
const script = [{ toolCalls: calls }, { text: 'done' }]

/** Runs a call that needs approval; `onRequest` answers. */
async function ask(onRequest: (run: AgentRun) => void, options: Partial<AgentOptions> = {}) {
  const ran: unknown[] = []
  const remove = tool('remove', (args) => `removed ${ran.push(args)}`, { needsApproval: true })
  const agent = new Agent({ model: scripted(script), tools: [remove], ...options })
  const run = agent.prompt('go')
  const events: AgentEvent[] = []
  const check = listening(run, (event) => {
    events.push(event)
    if (event.type === 'approvalRequested') onRequest(run)
  })
  const result = await run.result
  check()
  return { agent, events, ran, result }
}

const lastResult = (events: AgentEvent[]) => textOf(ofType(events, 'toolExecutionEnd')[0]?.result.content ?? [])

describe('approval', () => {
  it('suspends the call until it is approved', async () => {
    const { events, ran, result } = await ask((run) => {
      expect(run.pendingApprovals()).toMatchObject([{ toolCallId: 'c1', args: { path: 'a.txt' } }])
      approveWaiting(run, 'c1')
    })
    expect(ran).toEqual([{ path: 'a.txt' }])
    expect(result.status).toBe('completed')
    const order = events.map((event) => event.type).filter((type) => /approval|toolExecution/.test(type))
    expect(order).toEqual(['approvalRequested', 'approvalResolved', 'toolExecutionStart', 'toolExecutionEnd'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('sends the denial and its reason to the model', async () => {
    const { events, ran, result } = await ask((run) => run.deny('c1', 'not that file'))
    expect(ran).toEqual([])
    expect(lastResult(events)).toBe('The user denied this tool call: not that file')
    expect(result.status).toBe('completed')
  })

  it('binds the decision to the arguments in the request', async () => {
    const { ran } = await ask((run) => {
      const [pending] = run.pendingApprovals()
      expect(() => run.approve({ toolCallId: 'c1', argumentsHash: 'beef' })).toThrow(ConfigError)
      run.approve({ toolCallId: 'c1', argumentsHash: pending?.argumentsHash ?? '' })
    })
    expect(ran).toHaveLength(1)
  })

  it("shows and hashes the model's arguments before schema transforms", async () => {
    const parsed: unknown[] = []
    const parameters = z.object({ path: z.string().transform((path) => new Map([[path, 1n]])) })
    const remove = defineTool({
      name: 'remove',
      description: 'Removes.',
      parameters,
      jsonSchema: { type: 'object' },
      needsApproval: ({ path }) => path.size === 1,
      execute: ({ path }) => `removed ${parsed.push(path)}`,
    })
    const hashes: (string | undefined)[] = []
    for (const path of ['a.txt', 'b.txt']) {
      const model = scripted([{ toolCalls: [{ id: 'c1', name: 'remove', arguments: { path } }] }, { text: 'done' }])
      const { events, result } = await ask(
        (run) => {
          expect(run.pendingApprovals()).toMatchObject([{ args: { path } }])
          hashes.push(run.pendingApprovals()[0]?.argumentsHash)
          approveWaiting(run, 'c1')
        },
        { model, tools: [remove] },
      )
      expect(result.status).toBe('completed')
      expect(JSON.parse(JSON.stringify(events))).toEqual(events)
    }
    expect(hashes[0]).not.toBe(hashes[1])
    expect(parsed).toEqual([new Map([['a.txt', 1n]]), new Map([['b.txt', 1n]])])
  })

  it('ignores listener changes to the approved arguments', async () => {
    const { ran } = await ask((run) => {
      const [pending] = run.pendingApprovals()
      Object.assign(pending?.args ?? {}, { path: '/etc/passwd' })
      run.approve({ toolCallId: 'c1', argumentsHash: pending?.argumentsHash ?? '' })
    })
    expect(ran).toEqual([{ path: 'a.txt' }])
  })

  it('rejects decisions about calls without a pending approval', async () => {
    await ask((run) => {
      expect(() => run.approve({ toolCallId: 'nope', argumentsHash: 'beef' })).toThrow(
        'No tool call "nope" is pending. See run.pendingApprovals() and run.pendingClientCalls().',
      )
      run.deny('c1')
      expect(() => run.deny('c1')).toThrow(ConfigError)
    })
  })

  it('passes the arguments to the rule and requires approval if it throws', async () => {
    const asked: boolean[] = []
    for (const rule of [() => false, () => true, () => Promise.reject(new Error('rule'))]) {
      const { events } = await ask((run) => approveWaiting(run, 'c1'), { tools: [tool('remove', () => 'ok', { needsApproval: rule })] })
      asked.push(ofType(events, 'approvalRequested').length === 1)
    }
    expect(asked).toEqual([false, true, true])
  })

  it('resolves as denied on an abort', async () => {
    const { agent, events, ran, result } = await ask((run) => run.abort())
    expect(ran).toEqual([])
    expect(result.status).toBe('aborted')
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false }])
    expect(unansweredCalls(agent.messages)).toEqual([])
    expect(grammarFaults(events)).toEqual([])
  })
})

describe('a run whose approvals time out', () => {
  it('pauses with a pending call that another process can continue', async () => {
    const first = await ask(() => undefined, { approvalTimeoutMs: 5 })
    expect(first.result).toMatchObject({ status: 'paused', pendingApprovals: [{ toolCallId: 'c1', toolName: 'remove' }] })
    expect(grammarFaults(first.events)).toEqual([])
    expect(first.ran).toEqual([])

    const ran: unknown[] = []
    const remove = tool('remove', (args) => `removed ${ran.push(args)}`, { needsApproval: true })
    const model = scripted([{ text: 'done' }])
    const elsewhere = new Agent({ model, tools: [remove] })
    elsewhere.replaceMessages(parseMessages(serializeMessages(first.agent.messages)))
    const run = elsewhere.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect(await run.result).toMatchObject({ status: 'completed', text: 'done' })
    expect(ran).toEqual([{ path: 'a.txt' }])
    expect(model.provider.requests[0]?.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'toolResult'])
  })

  it('keeps the approval pending if a continuation is aborted before its start', async () => {
    const { agent, ran } = await ask(() => undefined, { approvalTimeoutMs: 5 })
    const before = agent.messages.length
    const stopped = agent.continueLoop({ signal: AbortSignal.abort() })
    expect(await stopped.result).toMatchObject({ status: 'aborted', messages: [] })
    expect(agent.messages).toHaveLength(before)
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.approve(event))
    expect((await run.result).status).toBe('completed')
    expect(ran).toEqual([{ path: 'a.txt' }])
  })

  it('requests only the approvals still pending after each pause', async () => {
    const ran: string[] = []
    const tools = ['a', 'b'].map((name) => tool(name, () => `ok ${ran.push(name)}`, { needsApproval: true }))
    const model = scripted([{ toolCalls: ['a', 'b'].map((name) => ({ id: name, name, arguments: {} })) }, { text: 'done' }])
    const agent = new Agent({ model, tools, approvalTimeoutMs: 5 })
    expect((await agent.prompt('go').result).pendingApprovals?.map((call) => call.toolCallId).sort()).toEqual(['a', 'b'])
    const second = agent.continueLoop()
    second.subscribe((event) => event.type === 'approvalRequested' && event.toolCallId === 'b' && second.approve(event))
    expect((await second.result).pendingApprovals?.map((call) => call.toolCallId)).toEqual(['a'])
    const third = agent.continueLoop()
    third.subscribe((event) => event.type === 'approvalRequested' && third.approve(event))
    expect((await third.result).status).toBe('completed')
    expect(ran).toEqual(['b', 'a'])
  })

  it('denies the pending call when a new prompt arrives', async () => {
    const { agent, ran } = await ask(() => undefined, { approvalTimeoutMs: 5 })
    expect((await agent.prompt('never mind').result).status).toBe('completed')
    expect(() => agent.continueLoop()).toThrow(/Cannot continue/)
    expect(ran).toEqual([])
  })

  it('does not continue a call without a marker in the history', async () => {
    const { agent } = await ask(() => undefined, { approvalTimeoutMs: 5 })
    const crashed = agent.messages.filter((message) => message.role !== 'extension')
    agent.replaceMessages(crashed)
    expect(() => agent.continueLoop()).toThrow(ConfigError)
  })

  it('keeps the results of sibling calls that need no approval', async () => {
    const tools = [tool('remove', () => 'removed', { needsApproval: true }), tool('look', () => 'seen')]
    const model = scripted([{ toolCalls: [...calls, { id: 'c2', name: 'look', arguments: {} }] }, { text: 'done' }])
    const agent = new Agent({ model, tools, approvalTimeoutMs: 5 })
    expect((await agent.prompt('go').result).status).toBe('paused')
    const run = agent.continueLoop()
    run.subscribe((event) => event.type === 'approvalRequested' && run.deny(event.toolCallId))
    expect((await run.result).status).toBe('completed')
    const results = agent.messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : []))
    expect(results.sort()).toEqual(['c1', 'c2'])
  })

  it('runs the call in a bare loop if an Approvals object decides', async () => {
    const context = { systemPrompt: '', messages: [], tools: [tool('remove', () => 'gone', { needsApproval: true })] }
    const approvals = new Approvals()
    const emit = (event: AgentEvent) => {
      if (event.type === 'approvalRequested') approvals.approve(event)
    }
    const options = { emit, approvals, signal: new AbortController().signal }
    expect(await agentLoop('go', context, { model: scripted(script) }, options)).toMatchObject({ status: 'completed', text: 'done' })
    expect(approvals.pending()).toEqual([])
  })

  it('pauses immediately in a bare loop without an approval handler', async () => {
    const context = { systemPrompt: '', messages: [], tools: [tool('remove', () => 'x', { needsApproval: true })] }
    const result = await agentLoop(
      'go',
      context,
      { model: scripted(script) },
      { emit: () => undefined, signal: new AbortController().signal },
    )
    expect(result.status).toBe('paused')
  })
})

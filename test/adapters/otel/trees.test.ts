import { describe, expect, it } from 'vitest'
import { traceAgent, traceLoops } from '../../../adapters/otel/index.ts'
import { SubAgentTool } from '../../../src/agents.ts'
import { Agent, type AgentOptions, defineTool, type Model } from '../../../src/index.ts'
import { parallelLoop, pickFirst } from '../../../src/loop.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools.ts'
import { memoryTracer, outline } from './spans.ts'

const add = defineTool<{ a: number; b: number }>({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => String(a + b),
})
const addCall = { name: 'add', arguments: { a: 1, b: 2 } }
const overloaded = { fail: { code: 'rateLimited', message: 'Try later.' } } as const
const nothing = { type: 'object' } as const

/** An agent that is traced, and the outline of its trace. */
function traced(script: Script | Model, options: Partial<AgentOptions> = {}) {
  const model = typeof script === 'object' && 'provider' in script ? script : scripted(script)
  const { tracer, started, spans } = memoryTracer()
  const retry = { maxRetries: 2, initialDelayMs: 0 }
  const agent = new Agent({ model, agentName: 'helper', tools: [add], retry, ...options })
  const trace = traceAgent(agent, { tracer })
  return { agent, trace, spans, tree: () => outline(started()) }
}

describe('traceAgent spans', () => {
  it('includes the spans of a run with a tool', async () => {
    const { agent, tree, spans } = traced([{ toolCalls: [addCall], usage: { input: 10, output: 5, cacheRead: 3 } }, { text: '3' }])
    const { loopId, sessionId, runId } = await agent.prompt('1 + 2?').result
    expect(tree()).toEqual(['invoke_agent helper', '  chat scripted', '  execute_tool add', '  chat scripted'])
    const [chat, tool, , run] = spans()
    expect(chat?.kind).toBe(2)
    expect(chat?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.request.max_tokens': 8192,
      'gen_ai.request.stream': true,
      'gen_ai.conversation.id': sessionId,
      'gen_ai.response.finish_reasons': ['tool_call'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.input_tokens': 13,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 3,
    })
    expect(tool?.kind).toBe(0)
    expect(tool?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'add',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'Adds.',
      'gen_ai.tool.call.id': expect.any(String),
    })
    expect(run?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'scripted',
      'gen_ai.request.model': 'scripted',
      'gen_ai.agent.name': 'helper',
      'gen_ai.agent.id': agent.agentId,
      'gen_ai.conversation.id': sessionId,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'gen_ai.usage.output_tokens': expect.any(Number),
      'gen_ai.usage.cache_read.input_tokens': 3,
      'phi.run.id': runId,
      'phi.loop.id': loopId,
      'phi.run.status': 'completed',
      'phi.continuation': 'initial',
    })
  })

  it('includes a retry as an event of the continuing call', async () => {
    const { agent, tree, spans } = traced([overloaded, { text: 'Half', ...overloaded }, { text: 'done' }])
    await agent.prompt('go').result
    expect(tree()).toEqual(['invoke_agent helper', '  chat scripted (retry rateLimited) (retry rateLimited)'])
    expect(spans()[0]?.events.map(({ attributes }) => attributes)).toEqual([
      expect.objectContaining({ 'phi.retry.attempt': 1, 'phi.retry.max_retries': 2, 'phi.retry.after_output': false }),
      expect.objectContaining({ 'phi.retry.attempt': 2 }),
    ])
  })

  it('includes an abort during a response and during a tool call', async () => {
    const inAnswer = traced([{ text: 'never' }])
    inAnswer.agent.subscribe((event) => event.type === 'messageUpdate' && inAnswer.agent.abort())
    await inAnswer.agent.prompt('go').result
    expect(inAnswer.tree()).toEqual(['invoke_agent helper !cancelled', '  chat scripted !cancelled'])

    const stuck = defineTool({
      name: 'stuck',
      description: 'Never ends.',
      parameters: nothing,
      execute: () => new Promise<string>(() => undefined),
    })
    const inTool = traced([{ toolCalls: [{ name: 'stuck', arguments: {} }] }], { tools: [stuck] })
    inTool.agent.subscribe((event) => event.type === 'toolExecutionStart' && queueMicrotask(() => inTool.agent.abort()))
    await inTool.agent.prompt('go').result
    expect(inTool.tree()).toEqual(['invoke_agent helper !cancelled', '  chat scripted', '  execute_tool stuck !cancelled'])
  })

  it('includes a sub-agent regardless of its forward option', async () => {
    for (const forward of ['updates', 'events'] as const) {
      const child = scripted([{ toolCalls: [addCall] }, { text: 'found' }, { text: 'found again' }], { id: 'small' })
      const researcher = new SubAgentTool({ name: 'researcher', description: 'Finds.', model: child, tools: [add], forward })
      const task = { name: 'researcher', arguments: { task: 'find' } }
      const { agent, tree, spans } = traced([{ toolCalls: [task, task] }, { text: 'ok' }], {
        tools: [researcher],
        toolExecution: 'sequential',
      })
      await agent.prompt('go').result
      expect(tree()).toEqual([
        'invoke_agent helper',
        '  chat scripted',
        '  execute_tool researcher',
        '    invoke_agent researcher',
        '      chat small',
        '      execute_tool add',
        '      chat small',
        '  execute_tool researcher',
        '    invoke_agent researcher',
        '      chat small',
        '  chat scripted',
      ])
      const ids = new Set(spans().map((span) => span.spanContext().traceId))
      expect(ids.size).toBe(1)
    }
  })

  it('includes a background sub-agent below its call, live or from events', async () => {
    for (const forward of ['updates', 'events'] as const) {
      const child = scripted([{ toolCalls: [addCall] }, { text: 'found' }], { id: 'small' })
      const researcher = new SubAgentTool({
        name: 'researcher',
        description: 'Finds.',
        model: child,
        tools: [add],
        forward,
        background: true,
      })
      const task = { name: 'researcher', arguments: { task: 'find' } }
      const { agent, tree, spans } = traced([{ toolCalls: [task] }, { text: 'waiting' }, { text: 'ok' }], { tools: [researcher] })
      await agent.prompt('go').result
      expect(tree().filter((line) => line.startsWith('    '))).toEqual([
        '    invoke_agent researcher',
        '      chat small',
        '      execute_tool add',
        '      chat small',
      ])
      expect(tree().filter((line) => /^ {2}\S/.test(line))).toEqual([
        '  chat scripted',
        '  execute_tool researcher',
        '  chat scripted',
        '  chat scripted',
      ])
      expect(new Set(spans().map((span) => span.spanContext().traceId)).size).toBe(1)
    }
  })

  it('includes the branches of a parallel loop', async () => {
    const { tracer, started, spans } = memoryTracer()
    const observers = [traceLoops({ tracer })]
    await parallelLoop({
      prompt: 'go',
      context: { systemPrompt: '', messages: [], tools: [add] },
      configs: [
        { model: scripted([{ toolCalls: [addCall] }, { text: 'a' }], { id: 'one' }), observers },
        { model: scripted([{ text: 'b' }], { id: 'two' }), observers },
      ],
      strategy: pickFirst,
      emit: () => undefined,
      signal: new AbortController().signal,
    })
    const tree = outline(started())
    expect(tree[0]).toBe('invoke_workflow parallel_loop')
    expect(tree.slice(1).toSorted()).toEqual(
      ['  invoke_agent', '  invoke_agent', '    chat one', '    chat one', '    chat two', '    execute_tool add'].toSorted(),
    )
    expect(spans().at(-1)?.attributes).toMatchObject({ 'gen_ai.workflow.name': 'parallel_loop', 'phi.parallel.selected': 0 })
  })

  it('includes a pause for a client tool and its prior approval', async () => {
    const where = clientTool({ name: 'where', description: 'Where the page is.', parameters: nothing, needsApproval: true })
    const { agent, tree, spans } = traced([{ toolCalls: [{ name: 'where', arguments: {} }] }, { text: 'done' }], { tools: [where] })
    agent.subscribe((event) => {
      if (event.type === 'approvalRequested') agent.currentRun?.approve(event)
      if (event.type === 'clientCallRequested') void agent.currentRun?.answerCall(event, { error: 'It does not say.' })
    })
    await agent.prompt('go').result
    expect(tree()).toEqual([
      ...['invoke_agent helper', '  chat scripted', '  wait_for_approval where', '  wait_for_page where'],
      ...['  execute_tool where !tool_error', '  chat scripted'],
    ])
    expect(spans()[2]?.attributes).toMatchObject({ 'phi.client_call.outcome': 'failed', 'gen_ai.tool.name': 'where' })
  })

  it('includes an approval that is granted, denied or missing', async () => {
    const script = [{ toolCalls: [addCall] }, { text: 'done' }]
    const tools = [{ ...add, needsApproval: true }]
    const yes = traced(script, { tools })
    yes.agent.subscribe((event) => event.type === 'approvalRequested' && yes.agent.currentRun?.approve(event))
    await yes.agent.prompt('go').result
    expect(yes.tree()).toEqual([
      'invoke_agent helper',
      '  chat scripted',
      '  wait_for_approval add',
      '  execute_tool add',
      '  chat scripted',
    ])
    expect(yes.spans()[1]?.attributes).toMatchObject({ 'phi.approval.approved': true, 'gen_ai.tool.name': 'add' })

    const no = traced(script, { tools })
    no.agent.subscribe((event) => event.type === 'approvalRequested' && no.agent.currentRun?.deny(event))
    await no.agent.prompt('go').result
    expect(no.tree()).toContain('  execute_tool add !tool_error')
    expect(no.spans()[1]?.attributes).toMatchObject({ 'phi.approval.approved': false })

    const nobody = traced(script, { tools, approvalTimeoutMs: 1 })
    await nobody.agent.prompt('go').result
    expect(nobody.tree()).toEqual(['invoke_agent helper', '  chat scripted', '  wait_for_approval add'])
    expect(nobody.spans().at(-1)?.attributes['phi.run.status']).toBe('paused')
    nobody.agent.subscribe((event) => event.type === 'approvalRequested' && nobody.agent.currentRun?.approve(event))
    await nobody.agent.continueLoop().result
    expect(nobody.tree().slice(3)).toEqual(['invoke_agent helper', '  wait_for_approval add', '  execute_tool add', '  chat scripted'])
  })

  it('includes failures of the model, a tool, its arguments and its timeout', async () => {
    const refused = traced([{ fail: { code: 'auth', message: 'No such key.' } }])
    await refused.agent.prompt('go').result
    expect(refused.tree()).toEqual(['invoke_agent helper !auth', '  chat scripted !auth'])

    const exploding = defineTool({
      name: 'explode',
      description: 'Throws.',
      parameters: nothing,
      execute: () => {
        throw new TypeError('secret words')
      },
    })
    const slow = defineTool({
      name: 'slow',
      description: 'Hangs.',
      parameters: nothing,
      timeoutMs: 1,
      execute: () => new Promise<string>(() => undefined),
    })
    const calls = ['explode', 'slow', 'unheard-of'].map((name) => ({ name, arguments: {} }))
    const failing = traced([{ toolCalls: [...calls, { name: 'add', arguments: {} }] }, { text: 'oh' }], { tools: [exploding, slow, add] })
    await failing.agent.prompt('go').result
    expect(failing.tree().toSorted()).toEqual(
      [
        'invoke_agent helper',
        '  chat scripted',
        '  chat scripted',
        '  execute_tool explode !TypeError',
        '  execute_tool slow !timeout',
        '  execute_tool unheard-of !tool_error',
        '  execute_tool add !tool_error',
      ].toSorted(),
    )
  })

  it('includes a run rejected by a hook and one ended by a limit', async () => {
    const refused = traced([{ text: 'x' }], { hooks: { beforeLoop: () => false } })
    await refused.agent.prompt('go').result
    expect(refused.tree()).toEqual(['invoke_agent helper'])
    expect(refused.spans()[0]?.attributes['phi.run.status']).toBe('rejected')
    const limited = traced(() => ({ toolCalls: [addCall] }), { limits: { maxTurns: 1 } })
    await limited.agent.prompt('go').result
    expect(limited.spans().at(-1)?.attributes['phi.run.status']).toBe('limit')
  })
})

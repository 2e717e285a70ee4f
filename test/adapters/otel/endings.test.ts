import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { SubAgentTool } from '../../../src/agents.ts'
import { Agent, type AgentTool, defineTool } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { runs } from '../../support/runs.ts'
import { countingTracer, memoryTracer, outline } from './spans.ts'

const nothing = { type: 'object' } as const
const tool = (name: string, execute: AgentTool['execute']) => defineTool({ name, description: name, parameters: nothing, execute })

/** Tools that end in every way. */
const tools: AgentTool[] = [
  tool('works', () => 'ok'),
  tool('later', async () => 'ok'),
  tool('throws', () => {
    throw new Error('no')
  }),
  tool('rejects', async () => {
    throw 'words'
  }),
  tool('hangs', () => new Promise<string>(() => undefined)),
  { ...tool('asks', () => 'ok'), needsApproval: true },
  new SubAgentTool({
    name: 'agent',
    description: 'Delegates.',
    model: scripted((request) => (request.messages.length > 1 ? { text: 'x' } : { toolCalls: [{ name: 'asks', arguments: {} }] })),
    tools: [tool('works', () => 'ok'), { ...tool('asks', () => 'ok'), needsApproval: true }],
    forward: 'events',
  }),
]

const aCall = fc.constantFrom(...tools.map(({ name }) => name), 'unknown').map((name) => {
  return { name, arguments: name === 'agent' ? { task: 'go' } : {} }
})
const aFailure = fc
  .constantFrom('rateLimited', 'auth', 'contextOverflow', 'network', 'other')
  .map((code) => ({ code, message: 'no' }) as const)
const aStep: fc.Arbitrary<ScriptedStep> = fc.oneof(
  fc.record({ text: fc.string({ maxLength: 20 }) }),
  fc.record({ toolCalls: fc.array(aCall, { minLength: 1, maxLength: 3 }) }),
  fc.record({ text: fc.string({ maxLength: 9 }), fail: aFailure }),
  fc.record({ fail: aFailure }),
)
const aRun = fc.record({
  script: fc.array(aStep, { minLength: 1, maxLength: 5 }),
  /** The event at which something happens, and what. */
  at: fc.nat(40),
  act: fc.constantFrom('nothing', 'abort', 'stop', 'reset', 'leave'),
  answer: fc.constantFrom('yes', 'no', 'nobody'),
  strategy: fc.constantFrom('parallel' as const, 'sequential' as const),
})

describe('span endings', () => {
  it('ends every started span once', async () => {
    await fc.assert(
      fc.asyncProperty(aRun, async ({ script, at, act, answer, strategy }) => {
        const { tracer, started, ends } = countingTracer()
        const agent = new Agent({
          model: scripted(script),
          tools,
          toolExecution: strategy,
          toolTimeoutMs: 3,
          approvalTimeoutMs: 3,
          retry: { maxRetries: 1, initialDelayMs: 0 },
          limits: { maxTurns: 6 },
        })
        const trace = traceAgent(agent, { tracer, captureContent: true })
        let seen = 0
        agent.subscribe((event) => {
          if (event.type === 'approvalRequested' && answer === 'yes') agent.currentRun?.approve(event)
          if (event.type === 'approvalRequested' && answer === 'no') agent.currentRun?.deny(event)
          if (seen++ !== at) return
          if (act === 'abort') agent.abort()
          if (act === 'stop') trace.stop()
          if (act === 'reset') agent.reset()
        })
        const run = agent.prompt('go')
        if (act === 'leave') for await (const _ of run) break
        await run.result
        // A sub-agent that was cut off says so a little later.
        await new Promise((resolve) => setTimeout(resolve, 0))
        expect(
          ends().every((count) => count === 1),
          JSON.stringify([ends(), outline(started())]),
        ).toBe(true)
        if (act !== 'stop') expect(started().filter(({ name }) => name === 'invoke_agent').length).toBeGreaterThan(0)
        trace.stop()
        expect(ends().every((count) => count === 1)).toBe(true)
      }),
      { numRuns: runs(60, 2000) },
    )
  })

  it('stops with stop() and resumes with another traceAgent call', async () => {
    const { tracer, started, spans } = memoryTracer()
    const agent = new Agent({ model: scripted(() => ({ toolCalls: [{ name: 'works', arguments: {} }] })), tools, limits: { maxTurns: 3 } })
    const trace = traceAgent(agent, { tracer })
    agent.subscribe((event) => event.type === 'toolExecutionStart' && trace.stop())
    const { status } = await agent.prompt('go').result
    expect(status).toBe('limit')
    expect(outline(started())).toEqual(['invoke_agent', '  chat scripted', '  execute_tool works !_OTHER'])
    expect(spans()).toHaveLength(3)
    expect(spans().at(-1)?.attributes['phi.trace.cut']).toBe(true)
    expect(agent.settings.observers).toBeUndefined()
    await agent.prompt('again').result
    expect(started()).toHaveLength(3)
    using _ = traceAgent(agent, { tracer })
    await agent.prompt('again').result
    expect(started().length).toBeGreaterThan(3)
  })

  it('keeps two traces of one agent independent', async () => {
    const [one, two] = [memoryTracer(), memoryTracer()]
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]) })
    const first = traceAgent(agent, { tracer: one.tracer })
    traceAgent(agent, { tracer: two.tracer })
    await agent.prompt('go').result
    first.stop()
    await agent.prompt('go').result
    expect([outline(one.started()).length, outline(two.started()).length]).toEqual([2, 4])
    expect(outline(two.started())).toEqual(['invoke_agent', '  chat scripted', 'invoke_agent', '  chat scripted'])
  })

  it('ends all spans after 10,000 calls', async () => {
    const { tracer, ends } = countingTracer()
    const calls = Array.from({ length: 10_000 }, () => ({ name: 'works', arguments: {} }))
    const agent = new Agent({ model: scripted([{ toolCalls: calls }, { text: 'done' }]), tools, contextManagement: false })
    traceAgent(agent, { tracer })
    await agent.prompt('go').result
    expect(ends()).toHaveLength(10_003)
    expect(new Set(ends())).toEqual(new Set([1]))
  })
})

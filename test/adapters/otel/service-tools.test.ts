import { expect, it } from 'vitest'
import { traceAgent, traceLoops } from '../../../adapters/otel/index.ts'
import { Agent, type AgentEvent, type ServiceToolContent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { countingTracer, everything, memoryTracer, outline } from './spans.ts'

const tool = (status: ServiceToolContent['status'], more: Partial<ServiceToolContent> = {}): ServiceToolContent => ({
  ...{ type: 'serviceTool', id: 'srv_1', name: 'web_search', input: { query: 'secret plans' }, status },
  ...more,
})

it('nests a hosted tool span below its model call, with searches and cost', async () => {
  const { tracer, started, spans } = memoryTracer()
  const failed = tool('failed', { id: 'srv_2', name: 'mcp.docs.read', error: { code: 'max_uses_exceeded', message: 'secret' } })
  const later = tool('running', { id: 'srv_3', name: 'code execution\n' })
  const usage = { input: 10, output: 5, searches: 2, reportedCost: 0.02 }
  const model = scripted([{ blocks: [tool('running'), tool('done', { output: 'secret' }), failed, later], text: 'Found.', usage }])
  const agent = new Agent({ model, agentName: 'seeker' })
  const trace = traceAgent(agent, { tracer })
  await agent.prompt('Search.').result
  expect(outline(started())).toEqual([
    'invoke_agent seeker',
    '  chat scripted',
    '    execute_tool web_search',
    '    execute_tool mcp.docs.read !max_uses_exceeded',
    '    execute_tool',
  ])
  const [search, , open, chat, run] = spans()
  expect(search?.attributes).toEqual({
    ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'web_search', 'gen_ai.tool.type': 'extension' },
    'gen_ai.tool.call.id': 'srv_1',
  })
  expect(open?.attributes).toMatchObject({ 'gen_ai.tool.name': '_OTHER', 'phi.tool.outcome': 'open' })
  for (const span of [chat, run]) expect(span?.attributes).toMatchObject({ 'phi.usage.searches': 2, 'phi.usage.reported_cost_usd': 0.02 })
  expect(everything(spans())).not.toContain('secret')
  trace.stop()
})

it('reports the search limit on the run that reached it', async () => {
  const { tracer, spans } = memoryTracer()
  const model = scripted(() => ({ toolCalls: [{ name: 'none', arguments: {} }], usage: { searches: 2 } }))
  const agent = new Agent({ model, limits: { maxSearches: 3, maxSameRefusals: 9 }, observers: [traceLoops({ tracer })], logger: false })
  await agent.prompt('go').result
  expect(spans().at(-1)?.attributes).toMatchObject({
    ...{ 'phi.run.status': 'limit', 'phi.run.limit.name': 'maxSearches', 'phi.run.limit.max': 3, 'phi.run.limit.used': 4 },
    'phi.usage.searches': 4,
  })
})

it('produces the same spans from events, even for an interrupted run', async () => {
  const events: AgentEvent[] = []
  const model = scripted([{ blocks: [tool('running'), tool('done')], text: 'Found.' }])
  const run = new Agent({ model }).prompt('go')
  for await (const event of run) events.push(event)
  const listeners = new Set<(event: AgentEvent) => void>()
  const agent = {
    subscribe: (listener: (event: AgentEvent) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as unknown as Agent // all that is used of it
  const { tracer, started, ends } = countingTracer()
  const trace = traceAgent(agent, { tracer })
  const cut = events.findIndex(({ type }) => type === 'serviceToolStart')
  for (const event of events) for (const listener of listeners) listener(event)
  for (const event of events.slice(0, cut + 1)) for (const listener of listeners) listener({ ...event, runId: 'other' })
  trace.stop()
  expect(started().map(({ name }) => name)).toEqual([
    ...['invoke_agent', 'chat scripted', 'execute_tool web_search'],
    ...['invoke_agent', 'chat scripted', 'execute_tool web_search'],
  ])
  expect(ends()).toEqual([1, 1, 1, 1, 1, 1])
})

import { describe, expect, it } from 'vitest'
import { bearer, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { type ChatAgent, remoteSession } from '../../../src/client.ts'
import { Agent, type AgentEvent, ConfigError, defineTool, memorySessionStore } from '../../../src/index.ts'
import { agentLoop } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { countingTracer, memoryTracer, outline } from './spans.ts'

const nothing = { type: 'object' } as const
const look = defineTool({ name: 'look', description: 'Looks.', parameters: nothing, execute: () => 'seen' })
const call = (name: string) => ({ toolCalls: [{ name, arguments: {} }] })
const later = { fail: { code: 'rateLimited', message: 'no' } } as const

/** A conversation of which only events are known. */
function heard() {
  const listeners = new Set<(event: AgentEvent) => void>()
  const subscribe = (listener: (event: AgentEvent) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  const agent = { subscribe } as unknown as ChatAgent // all that is used of it
  const tell = (event: AgentEvent): void => {
    for (const listener of listeners) listener(event)
  }
  return { agent, listeners, tell }
}

describe('tracing from events', () => {
  it('produces the same spans for a remote session, with server times', async () => {
    const agent = () => ({
      model: scripted([call('look'), later, { text: 'Half', ...later }, { text: 'done', usage: { input: 3, output: 4 } }]),
      agentName: 'far',
      tools: [look],
      retry: { initialDelayMs: 0 },
    })
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent })
    const app = createAgentApp({ sessions, authorize: bearer('long-secret') })
    const session = remoteSession({
      url: 'http://localhost',
      fetch: (request) => app.fetch(request),
      headers: { authorization: 'Bearer long-secret' },
      sessionId: 'traced',
    })
    const { tracer, started, spans } = memoryTracer()
    const trace = traceAgent(session, { tracer })
    await session.prompt('go').result
    expect(outline(started())).toEqual([
      'invoke_agent far',
      '  chat scripted',
      '  execute_tool look',
      '  chat scripted (retry rateLimited) (retry rateLimited)',
    ])
    expect(spans()).toHaveLength(4)
    const [, , chat, run] = spans()
    expect(chat?.attributes).toMatchObject({ 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.conversation.id': 'traced' })
    expect(run?.attributes).toMatchObject({ 'phi.run.status': 'completed' })
    trace.stop()
    session.close()
    await sessions.close()
  })

  it('traces a loop started by a tool, with or without guards', async () => {
    const { signal } = new AbortController()
    const model = scripted(() => ({ text: 'inner' }), { id: 'small' })
    const start = (name: string, isGuarded: boolean) =>
      defineTool({
        name,
        description: 'Starts a loop.',
        parameters: nothing,
        execute: async (_, ctx) => {
          const guards = isGuarded ? ctx.guards : undefined
          const config = { ...guards?.config, model }
          const { text } = await agentLoop('go', { systemPrompt: '', messages: [], tools: [] }, config, {
            emit: ctx.childEvent,
            signal,
            ...guards?.options,
          })
          return text
        },
      })
    const agent = new Agent({
      model: scripted([call('alone'), call('guarded'), { text: 'x' }]),
      tools: [start('alone', false), start('guarded', true)],
    })
    const { tracer, started, spans } = memoryTracer()
    traceAgent(agent, { tracer })
    await agent.prompt('go').result
    const inner = ['    invoke_agent', '      chat small']
    const outer = ['  execute_tool alone', ...inner, '  chat scripted', '  execute_tool guarded', ...inner, '  chat scripted']
    expect(outline(started())).toEqual(['invoke_agent', '  chat scripted', ...outer])
    expect(spans()).toHaveLength(started().length)
  })

  it('closes unfinished spans at the next run and on stop', async () => {
    const events: AgentEvent[] = []
    const agent = new Agent({ model: scripted(() => call('look')), tools: [look], limits: { maxTurns: 2 } })
    agent.subscribe((event) => events.push(event))
    await agent.prompt('go').result
    for (let cut = 0; cut <= events.length; cut += 1) {
      const { tracer, started, ends } = countingTracer()
      const { agent: far, tell, listeners } = heard()
      const trace = traceAgent(far, { tracer, captureContent: true })
      for (const event of events.slice(0, cut)) tell(event)
      for (const event of events) tell({ ...event, runId: 'another' })
      for (const event of events.slice(0, cut)) tell({ ...event, runId: 'third' })
      trace.stop()
      expect(new Set(ends())).toEqual(new Set([1]))
      expect(started().length).toBeGreaterThan(3)
      expect(listeners.size).toBe(0)
      for (const event of events) tell(event)
      expect(new Set(ends())).toEqual(new Set([1]))
    }
  })

  it('rejects an object that is not an agent', () => {
    for (const odd of [undefined, null, 7, {}, []]) expect(() => traceAgent(odd as never)).toThrow(ConfigError)
  })
})

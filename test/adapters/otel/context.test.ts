import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { SubAgentTool } from '../../../src/agents.ts'
import { Agent, defineTool } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { ToolOutput } from '../../../src/types/tool/tool.ts'
import { encodeAnswer } from '../../bench/wire.ts'
import { memoryTracer, outline } from './spans.ts'

const nothing = { type: 'object' } as const

beforeEach(() => void context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
afterEach(() => context.disable())

describe('tracing with a registered context manager', () => {
  it("nests a tool's spans below it, also after a pause or a late start", async () => {
    const { tracer, started } = memoryTracer()
    const query = (name: string) => tracer.startSpan(name).end()
    const work = defineTool({
      name: 'work',
      description: 'Queries.',
      parameters: nothing,
      execute: async () => {
        query('first')
        await new Promise((resolve) => setTimeout(resolve, 1))
        query('second')
        return 'ok'
      },
    })
    const lazy = defineTool({
      name: 'lazy',
      description: 'Queries once somebody waits.',
      parameters: nothing,
      // As query builders do.
      execute: () => {
        const builder = {
          // biome-ignore lint/suspicious/noThenProperty: what is tested
          then: (done: (value: string) => void) => {
            query('late')
            done('ok')
          },
        }
        return builder as unknown as ToolOutput
      },
    })
    const inner = new SubAgentTool({
      name: 'inner',
      description: 'Delegates.',
      model: scripted([{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'x' }]),
      tools: [work],
    })
    const calls = ['work', 'lazy'].map((name) => ({ name, arguments: {} }))
    const model = scripted([{ toolCalls: calls }, { toolCalls: [{ name: 'inner', arguments: { task: 'go' } }] }, { text: 'done' }])
    const agent = new Agent({ model, tools: [work, lazy, inner], toolExecution: 'sequential', hooks: { beforeTurn: () => query('hook') } })
    traceAgent(agent, { tracer })
    const request = tracer.startSpan('POST /chat')
    const run = context.with(trace.setSpan(context.active(), request), () => agent.prompt('go'))
    await run.result
    request.end()
    expect(outline(started())).toEqual([
      'POST /chat',
      '  invoke_agent',
      '    hook',
      '    chat scripted',
      '    execute_tool work',
      '      first',
      '      second',
      '    execute_tool lazy',
      '      late',
      '    hook',
      '    chat scripted',
      '    execute_tool inner',
      '      invoke_agent inner',
      '        hook',
      '        chat scripted',
      '        execute_tool work',
      '          first',
      '          second',
      '        hook',
      '        chat scripted',
      '    hook',
      '    chat scripted',
    ])
  })

  it('runs each model fetch inside its chat span', async () => {
    const { tracer, started, spans } = memoryTracer()
    let attempts = 0
    const fetch = async () => {
      tracer.startSpan('POST').end()
      attempts += 1
      if (attempts === 1) return new Response('{}', { status: 529 })
      const answer = encodeAnswer('anthropic', { text: ['hi'] })
      return new Response(new Blob(answer.map((bytes) => new Uint8Array(bytes))), { headers: { 'content-type': 'text/event-stream' } })
    }
    const model = anthropic('claude-sonnet-4-6', {
      apiKey: 'sk-very-secret',
      fetch,
      baseUrl: 'https://user:pass@models.test:8443/v1?key=word',
    })
    const agent = new Agent({ model, retry: { initialDelayMs: 0 } })
    traceAgent(agent, { tracer, captureContent: true })
    await agent.prompt('hello').result
    const [first] = outline(started()).slice(1)
    expect(outline(started())).toEqual(['invoke_agent', first, '    POST', '    POST'])
    expect(first).toMatch(/^ {2}chat claude-sonnet-4-6 \(retry \w+\)$/)
    const chat = spans().find(({ name }) => name.startsWith('chat'))
    expect(chat?.attributes).toMatchObject({
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.response.id': expect.any(String),
      'gen_ai.response.model': expect.any(String),
      'server.address': 'models.test',
      'server.port': 8443,
    })
    expect(JSON.stringify(spans().map(({ attributes, events }) => [attributes, events]))).not.toMatch(/very-secret|pass|word/)
  })
})

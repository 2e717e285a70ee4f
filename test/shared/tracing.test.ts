import { describe, expect, it } from 'vitest'
import { traceAgent } from '../../adapters/otel/index.ts'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryTracer, outline } from '../adapters/otel/spans.ts'
import { add } from '../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }

describe('tracing', () => {
  it('nests spans without async context tracking', async () => {
    const { tracer, started, spans } = memoryTracer()
    const model = scripted([sum, { text: '3' }], { id: 'small' })
    const helper = new SubAgentTool({ name: 'helper', description: 'Adds.', model, tools: [add] })
    const task = { name: 'helper', arguments: { task: '1 + 2' } }
    const script = [{ toolCalls: [task] }, { fail: { code: 'rateLimited', message: 'Later.' } }, { text: 'It is 3.' }] as const
    const agent = new Agent({ model: scripted([...script]), agentName: 'front', tools: [helper], retry: { initialDelayMs: 0 } })
    const trace = traceAgent(agent, { tracer })
    await agent.prompt('1 + 2?').text()
    expect(outline(started())).toEqual([
      'invoke_agent front',
      '  chat scripted',
      '  execute_tool helper',
      '    invoke_agent helper',
      '      chat small',
      '      execute_tool add',
      '      chat small',
      '  chat scripted (retry rateLimited)',
    ])
    expect(spans()).toHaveLength(started().length)
    trace.stop()
  })

  it('ends open spans after an abort', async () => {
    const { tracer, started, spans } = memoryTracer()
    const agent = new Agent({ model: scripted([sum, { text: 'never' }]), tools: [add] })
    traceAgent(agent, { tracer })
    agent.subscribe((event) => event.type === 'toolExecutionEnd' && agent.abort())
    await agent.prompt('go').result
    expect(outline(started())[0]).toBe('invoke_agent !cancelled')
    expect(spans()).toHaveLength(started().length)
  })
})

import type { Meter } from '@opentelemetry/api'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { Agent, defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { everything, memoryTracer } from './spans.ts'

const say = defineTool<{ text: string }>({
  name: 'say',
  description: 'Says it.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  needsApproval: ({ text }) => text.startsWith('ask'),
  execute: ({ text }) => {
    if (text.startsWith('throw')) throw new Error(text)
    return text
  },
})

/** Everything a run may hold, each with `mark` in it. */
async function saying(mark: string, captureContent?: boolean) {
  const { tracer, spans } = memoryTracer()
  const call = (text: string) => ({ name: 'say', arguments: { text: `${text} ${mark}` } })
  const model = scripted([
    { text: mark, toolCalls: [call('plain'), call('throw'), call('ask'), { name: `no tool ${mark}`, arguments: {} }] },
    { text: mark, fail: { code: 'rateLimited', message: mark } },
    { thinking: mark, text: mark, fail: { code: 'other', message: mark } },
  ])
  const agent = new Agent({ model, systemPrompt: mark, tools: [say], retry: { initialDelayMs: 0 } })
  agent.subscribe((event) => event.type === 'approvalRequested' && agent.currentRun?.deny(event, mark))
  traceAgent(agent, { tracer, ...(captureContent !== undefined && { captureContent }) })
  await agent.prompt([{ role: 'user', content: mark }], { metadata: mark }).result
  return spans()
}

describe('captured content', () => {
  it('omits content from attributes, events, names and status by default', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 8, unit: 'grapheme' }), async (text) => {
        const mark = `~${text.replace(/["\\\p{C}]/gu, '')}~confidential~`
        expect(everything(await saying(mark))).not.toContain('confidential')
        expect(everything(await saying(mark, false))).not.toContain('confidential')
      }),
      { numRuns: 20 },
    )
    const keys = (await saying('x')).flatMap(({ attributes }) => Object.keys(attributes))
    expect(keys.filter((key) => /messages|instructions|arguments|result|definitions/.test(key))).toEqual([])
  })

  it('uses the JSON format of the semantic conventions if enabled', async () => {
    const spans = await saying('word', true)
    const [chat, said, threw] = spans
    const read = (key: string): unknown => JSON.parse(String(chat?.attributes[key]))
    expect(read('gen_ai.system_instructions')).toEqual([{ type: 'text', content: 'word' }])
    expect(read('gen_ai.input.messages')).toEqual([{ role: 'user', parts: [{ type: 'text', content: 'word' }] }])
    expect(read('gen_ai.output.messages')).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'word' },
          ...['plain', 'throw', 'ask'].map((kind) => ({
            type: 'tool_call',
            id: expect.any(String),
            name: 'say',
            arguments: { text: `${kind} word` },
          })),
          { type: 'tool_call', id: expect.any(String), name: 'no tool word', arguments: {} },
        ],
        finish_reason: 'tool_call',
      },
    ])
    const tools = spans.filter(({ name }) => name === 'execute_tool say').map(({ attributes, status }) => [attributes, status])
    expect(tools).toContainEqual([
      expect.objectContaining({ 'gen_ai.tool.call.arguments': '{"text":"plain word"}', 'gen_ai.tool.call.result': 'plain word' }),
      expect.anything(),
    ])
    expect(tools).toContainEqual([expect.objectContaining({ 'error.type': 'Error' }), { code: 2, message: 'throw word' }])
    expect([said, threw]).not.toContain(undefined)
    const run = spans.at(-1)
    expect(JSON.parse(String(run?.attributes['gen_ai.input.messages']))).toHaveLength(1)
    expect(run?.status).toEqual({ code: 2, message: 'word. Tried 2 times.' })
  })

  it('truncates content to valid JSON with whole characters', async () => {
    const { tracer, spans } = memoryTracer()
    const huge = '🙂'.repeat(2_000_000)
    const model = scripted([{ toolCalls: [{ name: 'say', arguments: { text: huge } }] }, { text: huge }, { text: 'ok' }], {
      chunkSize: 1e9,
    })
    const agent = new Agent({ model, systemPrompt: huge, tools: [say], contextManagement: false })
    traceAgent(agent, { tracer, captureContent: true })
    await agent.prompt(`a${huge}`).result
    await agent.prompt('\ud800 alone').result
    for (const { attributes } of spans()) {
      for (const [key, value] of Object.entries(attributes)) {
        if (typeof value !== 'string') continue
        expect(value.length, key).toBeLessThan(140_000)
        if (/messages|instructions/.test(key)) expect(() => JSON.parse(value), key).not.toThrow()
        expect(/[\ud800-\udbff](?![\udc00-\udfff])/.test(value), key).toBe(false)
      }
    }
  })

  it('truncates ids and model names', async () => {
    const { tracer, spans } = memoryTracer()
    const long = 'é🙂'.repeat(10_000)
    const model = scripted([{ toolCalls: [{ id: long, name: long, arguments: {} }] }, { text: 'ok' }], { id: long })
    const agent = new Agent({ model, agentName: long, configId: 'c', agentId: long })
    traceAgent(agent, { tracer })
    await agent.prompt('go').result
    for (const { name, attributes } of spans()) {
      expect(name.length).toBeLessThan(300)
      for (const value of Object.values(attributes)) expect(String(value).length).toBeLessThanOrEqual(256)
    }
  })
})

describe('metrics', () => {
  it('records tokens and durations of model calls, agents and tools', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 2 ** 30 })
    const provider = new MeterProvider({ readers: [reader] })
    const meter: Meter = provider.getMeter('test')
    const { tracer } = memoryTracer()
    const calls = [
      { name: 'say', arguments: { text: 'x' } },
      { name: 'made-up', arguments: {} },
    ]
    const model = scripted([
      { toolCalls: calls, usage: { input: 10, output: 5, cacheRead: 90 } },
      { text: 'half', fail: { code: 'auth', message: 'no' } },
    ])
    const agent = new Agent({ model, agentName: 'helper', tools: [say], retry: false })
    traceAgent(agent, { tracer, meter })
    await agent.prompt('go').result
    await reader.forceFlush()
    const points = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics)
      .flatMap(({ descriptor, dataPoints }) => dataPoints.map(({ attributes, value }) => ({ name: descriptor.name, attributes, value })))
    const of = (name: string) => points.filter((point) => point.name === name)
    expect(of('gen_ai.client.token.usage').map(({ attributes, value }) => [attributes['gen_ai.token.type'], Object(value).sum])).toEqual(
      expect.arrayContaining([
        ['input', 100],
        ['output', 5],
      ]),
    )
    const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'scripted', 'gen_ai.request.model': 'scripted' }
    expect(of('gen_ai.client.operation.duration').map(({ attributes }) => attributes)).toEqual([chat, { ...chat, 'error.type': 'auth' }])
    expect(of('gen_ai.invoke_agent.duration').map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.agent.name': 'helper', 'gen_ai.request.model': 'scripted', 'error.type': 'auth' },
    ])
    expect(
      of('gen_ai.execute_tool.duration')
        .map(({ attributes }) => attributes['gen_ai.tool.name'])
        .toSorted(),
    ).toEqual(['_OTHER', 'say'])
    await provider.shutdown()
  })
})

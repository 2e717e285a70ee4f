import { type ContextManager, context, diag, type Meter, metrics, ROOT_CONTEXT, type Span, type Tracer, trace } from '@opentelemetry/api'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { traceAgent } from '../../../adapters/otel/index.ts'
import { Agent, type AgentEvent, defineTool } from '../../../src/index.ts'
import type { LoopObserver } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { countingTracer, memoryTracer, outline } from './spans.ts'

const echo = defineTool<{ text: string }>({
  name: 'echo',
  description: 'Says it.',
  parameters: { type: 'object', properties: { text: { type: 'string' } } },
  execute: ({ text }) => text,
})
const script = [
  { toolCalls: [{ id: 'c1', name: 'echo', arguments: { text: 'hi' } }] },
  { fail: { code: 'rateLimited', message: 'no' } },
  { text: 'done' },
] as const

/** What a run comes to, without what differs from run to run. */
async function outcome(options: { observers?: readonly LoopObserver[]; setUp?: (agent: Agent) => unknown }) {
  const logged: unknown[] = []
  const logger = { warn: (event: string) => logged.push(event) }
  const { observers, setUp } = options
  const agent = new Agent({
    model: scripted([...script]),
    tools: [echo],
    retry: { initialDelayMs: 0 },
    logger,
    ...(observers !== undefined && { observers }),
  })
  setUp?.(agent)
  const events: AgentEvent['type'][] = []
  const run = agent.prompt('go')
  for await (const event of run) events.push(event.type)
  const { status, text } = await run.result
  return { status, text, events, logged }
}

const boom = (): never => {
  throw new Error('the tracer is broken')
}

/** A span or a tracer of which the methods named `broken` throw. */
function breaking<T extends object>(target: T, broken: readonly string[]): T {
  return new Proxy(target, {
    get(of, key) {
      const value: unknown = Reflect.get(of, key, of)
      if (typeof value !== 'function') return value
      if (broken.includes(String(key))) return boom
      return (...args: unknown[]) => {
        const returned: unknown = value.apply(of, args)
        return key === 'startSpan' ? breaking(returned as Span, broken) : returned // what startSpan returns
      }
    },
  })
}

afterEach(() => {
  context.disable()
  metrics.disable()
  trace.disable()
  diag.disable()
})

describe('a run with failing telemetry', () => {
  it('ignores tracer errors and warns once', async () => {
    const plain = await outcome({})
    const methods = ['startSpan', 'setAttribute', 'setAttributes', 'addEvent', 'setStatus', 'end', 'isRecording', 'spanContext']
    for (const method of methods) {
      const warnings: string[] = []
      const { debug, info, error } = console
      diag.setLogger({ debug, info, error, verbose: debug, warn: (message) => warnings.push(message) })
      const { tracer } = memoryTracer()
      const broken: Tracer = breaking(tracer, [method])
      const traced = await outcome({ setUp: (agent) => traceAgent(agent, { tracer: broken, captureContent: true }) })
      expect(traced, method).toEqual(plain)
      expect(warnings.filter((text) => text.startsWith('phi-core')).length, method).toBeLessThanOrEqual(1)
    }
  })

  it('ignores meter errors and keeps the spans', async () => {
    const plain = await outcome({})
    const { tracer, started } = memoryTracer()
    const meter = { createHistogram: boom } as unknown as Meter // one that is broken
    expect(await outcome({ setUp: (agent) => traceAgent(agent, { tracer, meter }) })).toEqual(plain)
    expect(outline(started())).toEqual(['invoke_agent', '  chat scripted', '  execute_tool echo', '  chat scripted (retry rateLimited)'])
  })

  it.each([
    ['throws immediately', { with: boom, active: boom }],
    [
      'throws after the work',
      {
        with: (_: unknown, work: () => unknown) => {
          work()
          return boom()
        },
        active: () => ROOT_CONTEXT,
      },
    ],
    ['never runs the work', { with: () => undefined, active: () => ROOT_CONTEXT }],
    [
      'runs the work twice',
      {
        with: (_: unknown, work: () => unknown) => {
          work()
          return work()
        },
        active: () => ROOT_CONTEXT,
      },
    ],
  ])('ignores a context manager that %s', async (_, methods) => {
    const plain = await outcome({})
    const manager = { ...methods, bind: (_: unknown, target: unknown) => target, enable: () => manager, disable: () => manager }
    context.setGlobalContextManager(manager as unknown as ContextManager) // one that is broken
    const { tracer, ends } = countingTracer()
    expect(await outcome({ setUp: (agent) => traceAgent(agent, { tracer }) })).toEqual(plain)
    expect(ends()).toEqual([1, 1, 1, 1])
  })

  it('ignores observer errors in every step', async () => {
    const plain = await outcome({})
    const acts = [
      boom,
      async () => boom(),
      (_: unknown, work?: unknown) => {
        if (typeof work === 'function') work()
        return boom()
      },
      async (_: unknown, work?: unknown) => (typeof work === 'function' ? work() : undefined),
      () => undefined,
    ]
    const anAct = fc.constantFrom(...acts)
    const aWatch = fc.record({ event: anAct, request: anAct, around: anAct, inner: anAct }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(fc.array(aWatch, { minLength: 1, maxLength: 3 }), fc.boolean(), async (watches, isBroken) => {
        const observers = watches.map((watch) => ({ watch: () => (isBroken ? boom() : watch) }) as LoopObserver) // of any kind
        const { logged, ...watched } = await outcome({ observers })
        expect(watched).toEqual({ status: plain.status, text: plain.text, events: plain.events })
        expect(logged.filter((event) => event === 'watchFailed').length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 60 },
    )
  })

  it('runs a tool once although several observers call it again', async () => {
    let count = 0
    const counted = { ...echo, execute: () => String(++count) }
    const observer: LoopObserver = {
      watch: () => ({
        around: (_, work) => {
          work()
          work()
        },
      }),
    }
    const agent = new Agent({
      model: scripted([...script]),
      tools: [counted],
      retry: { initialDelayMs: 0 },
      observers: [observer, observer],
    })
    await agent.prompt('go').result
    expect(count).toBe(1)
  })
})

import type { ChatAgent } from '../../src/client.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFlag, options as optionsOf, withMethods } from '../../src/contract/shape/shape.ts'
import { type Agent, ConfigError } from '../../src/index.ts'
import type { LoopObserver } from '../../src/loop.ts'
import { LoopTrace } from './loop-trace.ts'
import { ReadLoops, type ReadTrace } from './read-loops.ts'
import { type TraceOptions, Tracing } from './tracing.ts'

/** A handle that stops tracing. */
export interface AgentTrace {
  /** Ends all open spans now and starts no more. You can call it twice. */
  stop(): void
  [Symbol.dispose](): void
}

/** Observer that traces the loops it is passed to in `observers`. */
export interface LoopTracer extends LoopObserver, AgentTrace {}

const traceOptions = optionsOf<TraceOptions>({
  tracer: withMethods('a tracer of @opentelemetry/api', 'startSpan'),
  meter: withMethods('a meter of @opentelemetry/api', 'createHistogram'),
  captureContent: aFlag,
})

/**
 * Traces every later run of an agent with OpenTelemetry's conventions for generative AI: spans `invoke_agent`, `chat` and
 * `execute_tool`, and their metrics. Spans of sub-agents and branches are children of the span that started them.
 *
 * **Contract**
 * - Records text from users, models and tools only with `captureContent`. Never records keys.
 * - Every span ends with its operation, with the run, or with `stop`. A tracer that throws loses spans, not the run.
 * - Parents are passed explicitly. With a context manager, the run begins below the active span, and `execute` of tools and the
 *   model's `fetch` run inside their spans.
 * - An `Agent` gets an observer for later runs. Agents made by `with` and `fork` inherit it. Another `ChatAgent`, such as a
 *   remote session, is traced from its events. The times are the server's, and data without an event is missing.
 * - If called twice, it traces every run twice.
 * - Throws `ConfigError` `invalidOption`.
 *
 * Source: docs/reference/tracing.md
 *
 * @example
 * const trace = traceAgent(agent)
 * await agent.prompt('What is the weather in Oslo?').text()
 * trace.stop()
 */
export function traceAgent(agent: Agent | ChatAgent, options: TraceOptions = {}): AgentTrace {
  checkOptions(options, traceOptions)
  if (isAgent(agent)) return traceLocal(agent, options)
  if (typeof agent?.subscribe === 'function') return traceEvents(agent, options)
  throw new ConfigError('invalidOption', 'traceAgent takes an Agent, or a ChatAgent such as a remote session.')
}

/**
 * Creates the observer behind {@link traceAgent}, for loops without an agent:
 * `agentLoop(prompt, context, { model, observers: [traceLoops()] }, …)`, and a parallel loop's configurations.
 *
 * Source: docs/reference/tracing.md
 */
export function traceLoops(options: TraceOptions = {}): LoopTracer {
  checkOptions(options, traceOptions)
  const tracing = new Tracing(options)
  const open = new Set<ReadTrace>()
  let isActive = true
  const stop = (): void => {
    isActive = false
    for (const trace of open) trace.cut()
  }
  return {
    watch: (loop) => (isActive ? new LoopTrace(tracing, loop, { open, parent: tracing.active() }) : undefined),
    stop,
    [Symbol.dispose]: stop,
  }
}

/** Duck-typed, because there may be two copies of this package. */
function isAgent(agent: Agent | ChatAgent): agent is Agent {
  return typeof agent === 'object' && agent !== null && 'configure' in agent && typeof agent.configure === 'function'
}

function traceLocal(agent: Agent, options: TraceOptions): AgentTrace {
  const tracer = traceLoops(options)
  agent.configure({ observers: [...(agent.settings.observers ?? []), tracer] })
  const stop = (): void => {
    tracer.stop()
    const others = agent.settings.observers?.filter((observer) => observer !== tracer) ?? []
    agent.configure({ observers: others.length > 0 ? others : undefined })
  }
  return { stop, [Symbol.dispose]: stop }
}

function traceEvents(agent: ChatAgent, options: TraceOptions): AgentTrace {
  const tracing = new Tracing(options)
  const open = new Set<ReadTrace>()
  const loops = new ReadLoops((facts, at) => new LoopTrace(tracing, facts, { open, parent: tracing.active(), at }))
  const stopListening = agent.subscribe((event) => {
    // Only one run at a time, so the end of the previous run was lost.
    if (event.type === 'agentStart') loops.cut(event.at, event.runId)
    loops.event(event)
  })
  const stop = (): void => {
    stopListening()
    for (const trace of open) trace.cut(Date.now())
  }
  return { stop, [Symbol.dispose]: stop }
}

import type { ChatAgent } from '../../src/client.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFlag, options as optionsOf, withMethods } from '../../src/contract/shape/shape.ts'
import { type Agent, ConfigError } from '../../src/index.ts'
import type { LoopObserver } from '../../src/loop.ts'
import { LoopTrace } from './loop-trace.ts'
import { ReadLoops, type ReadTrace } from './read-loops.ts'
import { type TraceOptions, Tracing } from './tracing.ts'

/** How to stop tracing. */
export interface AgentTrace {
  /** Ends every span that is open, now, and begins none any more. May be called again. */
  stop(): void
  [Symbol.dispose](): void
}

/** Traces the loops that have it among their `observers`. */
export interface LoopTracer extends LoopObserver, AgentTrace {}

const traceOptions = optionsOf<TraceOptions>({
  tracer: withMethods('a tracer of @opentelemetry/api', 'startSpan'),
  meter: withMethods('a meter of @opentelemetry/api', 'createHistogram'),
  captureContent: aFlag,
})

/**
 * Traces every run of an agent from now on, by OpenTelemetry's conventions for generative AI: spans `invoke_agent`, `chat` and `execute_tool`, and
 * the figures that belong to them. Sub-agents and branches hang below what started them.
 *
 * **Contract**
 * - The words of people, models and tools are recorded only with `captureContent`; keys never are.
 * - Every span ends: with what it stands for, with the run, or with `stop`. A tracer that throws costs spans, not the run.
 * - Parents are handed on explicitly. Where a context manager is registered, the run begins below the span that is active, and `execute` of tools and
 *   the model's `fetch` run inside of theirs.
 * - An `Agent` gets an observer among its settings, from its next run on; agents made by `with` and `fork` have it too. Another `ChatAgent`, such as a
 *   remote session, is traced from its events: times are those of the server, and what events do not say is missing.
 * - Called twice, it traces twice.
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
 * The observer behind {@link traceAgent}, for loops without an agent: `agentLoop(prompt, context, { model, observers: [traceLoops()] }, …)`, and the
 * configurations of a parallel loop.
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

/** By what it can do, not by its class: there may be two copies of this package. */
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
    // One run at a time: of one before, the end was lost.
    if (event.type === 'agentStart') loops.cut(event.at, event.runId)
    loops.event(event)
  })
  const stop = (): void => {
    stopListening()
    for (const trace of open) trace.cut(Date.now())
  }
  return { stop, [Symbol.dispose]: stop }
}

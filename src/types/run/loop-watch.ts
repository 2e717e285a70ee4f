import type { AssistantMessage, MessageEnvelope } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { RunFailure } from '../../contract/run/run-facts.ts'
import type { StreamRequest } from '../model/provider.ts'

/**
 * Position in a distributed trace, as W3C Trace Context defines it. Pass it on with outgoing requests. Source: docs/reference/tracing.md
 */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  traceparent: string
  tracestate?: string
}

/** A loop that is about to start. For a whole parallel loop, the model is absent. */
export interface WatchedLoop {
  runId: string
  loopId: string
  sessionId: string
  agentId: string
  /** As in `agentStart`. */
  agentName?: string
  model?: ModelConfig
}

/** Outcome of a model call. `failure` says why it failed after all retries. */
export interface ModelAnswer {
  message: AssistantMessage & MessageEnvelope
  failure?: RunFailure
}

/**
 * A timed step of a loop, for {@link LoopWatch.around}. Its work returns:
 *
 * - `loop`: a promise that settles after `agentEnd`; for a parallel loop after `parallelLoopEnd`.
 * - `modelCall`: a promise of a {@link ModelAnswer}. One per turn, including retries.
 * - `toolCall`: the return value of the tool's `execute`, or its error. `stop` returns why the call was cancelled.
 */
export type LoopStep =
  | { type: 'loop' }
  | { type: 'modelCall'; turnIndex: number; model: ModelConfig }
  | {
      type: 'toolCall'
      toolCallId: string
      toolName: string
      /** The tool's own. */
      description: string
      stop: { readonly aborted: boolean; readonly reason: unknown }
    }

/**
 * Observes one loop. All methods are optional and synchronous; the loop waits for none.
 *
 * **Contract**
 * - `event` receives every event of the loop, before the listeners of the run.
 * - `request` receives the model request, without a key: before the first attempt, and again after an overflow forced a compaction. Do not
 *   change it.
 * - `around` calls `work` once, synchronously, in a context of its own, such as a trace. The loop uses the outcome of `work`, not of
 *   `around`, and calls `work` itself if `around` does not.
 * - `inner` returns the observers of loops that a call starts. For a parallel loop, these are its branches and the strategy's model calls,
 *   without an id.
 * - `trace` returns the trace position of a running call. The first watch that knows it is used when a tool reads `ctx.trace`.
 * - Errors are logged as `watchFailed` and do not affect the run.
 *
 * Source: docs/reference/tracing.md
 */
export interface LoopWatch {
  event?(event: AgentEvent): void
  request?(request: StreamRequest): void
  around?(step: LoopStep, work: () => unknown): void
  inner?(toolCallId?: string): LoopObserver | undefined
  trace?(toolCallId: string): TraceContext | undefined
}

/** Creates a watch for each loop before it starts, as a tracer does. `undefined` skips the loop. Source: docs/reference/tracing.md */
export interface LoopObserver {
  watch(loop: WatchedLoop): LoopWatch | undefined
}

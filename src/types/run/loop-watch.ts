import type { AssistantMessage, MessageEnvelope } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { RunFailure } from '../../contract/run/run-facts.ts'
import type { StreamRequest } from '../model/provider.ts'

/**
 * Position in a distributed trace, as defined by W3C Trace Context. Send both fields with outgoing requests. Source:
 * docs/reference/tracing.md
 */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  traceparent: string
  tracestate?: string
}

/** A loop that is about to start. `model` is absent for a parallel loop as a whole. */
export interface WatchedLoop {
  runId: string
  loopId: string
  sessionId: string
  agentId: string
  /** Agent name, as in `agentStart`. */
  agentName?: string
  model?: ModelConfig
}

/** Outcome of a model call. `failure` contains the error after all retries. */
export interface ModelAnswer {
  message: AssistantMessage & MessageEnvelope
  failure?: RunFailure
}

/**
 * A timed step of a loop, for {@link LoopWatch.around}. The step's `work` returns:
 *
 * - `loop`: a promise that settles after `agentEnd`, or after `parallelLoopEnd` for a parallel loop.
 * - `modelCall`: a promise of a {@link ModelAnswer}. There is one step per turn, which includes retries.
 * - `toolCall`: the return value or error of the tool's `execute`. `stop` returns the reason if the call was cancelled.
 */
export type LoopStep =
  | { type: 'loop' }
  | { type: 'modelCall'; turnIndex: number; model: ModelConfig }
  | {
      type: 'toolCall'
      toolCallId: string
      toolName: string
      /** The tool's title. */
      description: string
      stop: { readonly aborted: boolean; readonly reason: unknown }
    }

/**
 * Observes one loop. All methods are optional and synchronous. The loop does not wait for promises.
 *
 * **Contract**
 * - `event` receives every event of the loop, before the run's listeners.
 * - `request` receives the model request without its API key, before the first attempt and after each overflow compaction. Do not modify
 *   the request.
 * - `around` calls `work` once, synchronously, in a context such as an active span. The loop uses the outcome of `work`, ignores that of
 *   `around`, and calls `work` itself if `around` does not.
 * - `inner` returns observers for the loops that a tool call starts. A parallel loop calls `inner` without an id, for its branches and the
 *   strategy's model calls.
 * - `trace` returns the trace position of a running call. `ctx.trace` uses the first watch that returns one.
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

/** Creates a watch for each loop before the loop starts. Return `undefined` to skip a loop. Source: docs/reference/tracing.md */
export interface LoopObserver {
  watch(loop: WatchedLoop): LoopWatch | undefined
}

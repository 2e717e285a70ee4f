import type { AssistantMessage, MessageEnvelope } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { RunFailure } from '../../contract/run/run-facts.ts'
import type { StreamRequest } from '../model/provider.ts'

/**
 * Where a piece of work stands in a distributed trace, in the words of W3C Trace Context: what it asks of others goes on with it. Source:
 * docs/reference/tracing.md
 */
export interface TraceContext {
  /** `00-{trace id}-{span id}-{flags}`. */
  traceparent: string
  tracestate?: string
}

/** A loop that is about to begin, or the whole of a parallel loop: then without a model. */
export interface WatchedLoop {
  runId: string
  loopId: string
  sessionId: string
  agentId: string
  /** As in `agentStart`. */
  agentName?: string
  model?: ModelConfig
}

/** What a model call came to. `failure` says why it failed for good. */
export interface ModelAnswer {
  message: AssistantMessage & MessageEnvelope
  failure?: RunFailure
}

/**
 * A part of a loop that takes time, for {@link LoopWatch.around}. What its work returns:
 * - `loop`: a promise, which settles after `agentEnd`; of a parallel loop after `parallelLoopEnd`.
 * - `modelCall`: a promise of a {@link ModelAnswer}. One per turn, retries included.
 * - `toolCall`: what the tool's `execute` returns, or throws. `stop` says whether the call was cut off, and with what.
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
 * Watches one loop from within. All optional, all synchronous; the loop waits for nothing.
 *
 * **Contract**
 * - `event` gets every event of the loop, before the listeners of the run.
 * - `request` gets what the model is about to be sent, without a key: before the first attempt of a model call, and again after a compaction that
 *   an overflow made necessary. Nothing in it may be changed.
 * - `around` calls `work` once, at once, in whatever context it has: that of a trace, say. What `work` returns or throws is the loop's own, whatever
 *   `around` makes of it; where `around` does not call it, the loop does.
 * - `inner` gives the observers of the loops that a call starts; of a parallel loop its branches and what the strategy asks, without an id.
 * - `trace` says where a running call stands in a trace; the first watch that knows is asked, when the tool looks at `ctx.trace`.
 * - What it throws is logged as `watchFailed` and costs the run nothing.
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

/** Watches loops from within, as a tracer does: it is asked before each begins. `undefined`: not this one. Source: docs/reference/tracing.md */
export interface LoopObserver {
  watch(loop: WatchedLoop): LoopWatch | undefined
}

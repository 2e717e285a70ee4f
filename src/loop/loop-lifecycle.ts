import type { RunStatus } from '../types/event.ts'
import type { CompactionFigures } from '../types/hooks.ts'
import type { JsonObject } from '../types/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope } from '../types/message.ts'
import type { RunResult } from '../types/run.ts'
import type { ToolResult } from '../types/tool-result.ts'
import type { Usage } from '../types/usage.ts'
import type { MessageSupplier } from './loop-config.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** A tool call as its hooks see it. */
export interface HookedCall {
  id: string
  name: string
}

/** What `beforeToolExecution` decided: run, run with other arguments, or answer with this error instead. */
export type ToolDecision = { type: 'run' } | { type: 'replace'; args: JsonObject } | { type: 'skip'; message: string }

/**
 * The fixed points at which a loop asks hooks and filters. `Lifecycle` runs them; a loop without any has none.
 *
 * **Contract**: nothing here rejects, but `beforeTool` with the signal's reason. See `LoopHooks` and `InputFilter` for what each answer means.
 */
export interface LoopLifecycle {
  /** Nothing waits for this turn any more: the model would be asked nothing. */
  readonly isUnasked: boolean
  /** Whether updates of tools have hooks. */
  readonly watchesUpdates: boolean
  /** How the run ends before it begins, or `undefined`. */
  beforeLoop(): Promise<RunStatus | undefined>
  /** Runs after `agentEnd`; an aborted run still waits a second for it. */
  afterLoop(result: RunResult): Promise<void>
  /** Filters what waits for this turn, then asks `beforeTurn`. How the run ends instead, or `undefined`. Without `inputs` for a turn that takes none. */
  beforeTurn(inputs?: MessageSupplier): Promise<RunStatus | undefined>
  /** What of `supplier` may go into the history now. */
  take(supplier: MessageSupplier): readonly AgentMessage[]
  afterTurn(message: AssistantMessage & MessageEnvelope, usage: Usage, toolResults: readonly ToolResultEntry[]): Promise<void>
  onError(): Promise<void>
  /** Rejects with the signal's reason when the run is stopped. */
  beforeTool(call: HookedCall, args: JsonObject, requestApproval: () => Promise<boolean>): Promise<ToolDecision>
  afterTool(call: HookedCall, result: ToolResult): Promise<void>
  /** Reports a partial result with `emit`, unless a hook says no; `emit` says whether the call was still there to report it. */
  update(call: HookedCall, partialResult: ToolResult, emit: () => boolean): Promise<void>
  beforeCompaction(estimatedTokens: number, messageCount: number): Promise<boolean>
  afterCompaction(figures: CompactionFigures): Promise<void>
}

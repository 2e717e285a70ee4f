import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** A `false` with a reason: for the model where a call is skipped, and in the result of a run that it ends. */
export interface HookRefusal {
  allow: false
  reason?: string
}

/** What a `before…` hook answers: `false`, or a refusal, stops or skips what would follow; anything else lets it go on. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type HookVerdict = boolean | HookRefusal | undefined | void | Promise<boolean | HookRefusal | undefined | void>

/** What an observer returns; awaited, its value ignored. */
export type HookDone = unknown

/** Who calls a hook. Sub-agents are watched by the hooks of the run that started them, unless they have their own. */
export interface HookOrigin {
  loopId: string
  agentId: string
  /** Of the sub-agent, or of the agent where it has one. */
  agentName?: string
}

/** A turn as hooks see it. `messages` is a copy of the list; its entries are the history and must not be changed. */
export interface TurnHookInfo extends HookOrigin {
  /** Counts from 0 within the loop. */
  turnIndex: number
  messages: readonly AgentMessage[]
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** A tool call as hooks see it. */
export interface ToolHookInfo extends HookOrigin {
  toolCallId: string
  toolName: string
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** A tool call that is about to run. */
export interface BeforeToolInfo extends ToolHookInfo {
  /** A copy of what the model wrote; changing it changes nothing. */
  args: JsonObject
  /**
   * Asks a person whether this call may run; resolves with the answer. The wait is an `approvalRequested` event. A no is final, also when the
   * hook returns something else; when nobody answers in time, the call waits and the run ends `paused`, whatever the hook returns. Asked
   * again, it gives the same answer; a request that is open when the hook says no, or replaces the arguments, is withdrawn. Rejects when the
   * run is stopped, and with `ConfigError` `unknownCall` once the hook has returned.
   */
  requestApproval(): Promise<boolean>
}

/**
 * What `beforeToolExecution` answers beside yes and no: other arguments for the call. They are validated like the model's own, and where a
 * person was asked about the call, or its tool asks for approval of them, a person is asked again.
 */
export interface ReplacedArguments {
  arguments: JsonObject
}

/** Figures of one compaction; tokens are estimates. */
export interface CompactionFigures {
  messagesBefore: number
  messagesAfter: number
  tokensBefore: number
  tokensAfter: number
}

/**
 * Code of the application at fixed points of a loop. All optional, all may be async; the loop waits for each.
 *
 * **Order**
 * ```
 * beforeLoop → agentStart
 *   beforeTurn → turnStart
 *     (beforeCompactionStart → compactionStarted … compactionEnded → afterCompactionEnd)?
 *     per call: beforeToolExecution → toolExecutionStart
 *       (beforeToolExecutionUpdate → toolExecutionUpdate → afterToolExecutionUpdate)*
 *       toolExecutionEnd → afterToolExecution
 *   turnEnd → afterTurn
 * agentEnd → afterLoop
 * ```
 * **Contract**
 * - `false`, or `{ allow: false, reason }`, from `beforeLoop` or `beforeTurn` ends the run with status `rejected`; from `beforeToolExecution` the
 *   model is told that the call was skipped; from `beforeToolExecutionUpdate` the update is not reported; from `beforeCompactionStart` nothing
 *   is compacted this turn.
 * - A `before…` hook that throws counts as `false` (and ends the run with status `error` where `false` would end it). What an observer throws
 *   is logged as `hookFailed` and ignored.
 * - Hooks of one call run in order; its update hooks have all run when its `toolExecutionEnd` is emitted. Calls that run at the same time have
 *   their hooks interleaved.
 * - An abort ends every wait for a hook; the hook itself is told through `signal`.
 * - `afterLoop` runs after every `agentEnd`, also after the one that `beforeLoop` caused.
 * - They hold for the loops of sub-agents too, each with its `loopId` and `agentName`, unless a sub-agent is given its own.
 *
 * Source: docs/concepts/hooks.md
 */
export interface LoopHooks {
  beforeLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; signal: AbortSignal }): HookVerdict
  /** `messages` are those the loop added. */
  afterLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; usage: Usage; status: RunStatus }): HookDone
  beforeTurn?(info: TurnHookInfo): HookVerdict
  afterTurn?(
    info: TurnHookInfo & { message: AssistantMessage & MessageEnvelope; toolResults: readonly ToolResultMessage[]; usage: Usage },
  ): HookDone
  /** A model call failed for good. Not called for an abort. */
  onError?(info: HookOrigin & { error: RunFailure; turnIndex: number; signal: AbortSignal }): HookDone
  beforeToolExecution?(info: BeforeToolInfo): HookVerdict | ReplacedArguments | Promise<ReplacedArguments | Awaited<HookVerdict>>
  afterToolExecution?(info: ToolHookInfo & { isError: boolean; result: ToolResult }): HookDone
  beforeToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookVerdict
  afterToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookDone
  beforeCompactionStart?(info: HookOrigin & { estimatedTokens: number; messageCount: number; signal: AbortSignal }): HookVerdict
  afterCompactionEnd?(info: HookOrigin & CompactionFigures & { signal: AbortSignal }): HookDone
}

import type { AgentMessage, AssistantMessage, MessageEnvelope, MessageInput, ToolResultMessage } from '../../contract/message/message.ts'
import type { RequestSettings, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { Model } from '../model/model.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { HookOrigin, SharedHooks } from './hooks.ts'

/** A turn before its request. The lists are copies; do not change their entries. */
export interface UpcomingTurn {
  /** Zero-based within the loop. */
  turnIndex: number
  /** The history. */
  messages: readonly AgentMessage[]
  /** Model of the turn, unless changed. */
  model: Model
  tools: readonly AgentTool[]
  systemPrompt: string
  /** Usage of the run so far. */
  usage: Usage
  /** USD of the run so far, at known prices. */
  costUsd: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/**
 * Overrides of the agent's settings for one turn. Absent fields keep the agent's value.
 *
 * Source: docs/concepts/limits.md
 */
export interface TurnChanges extends RequestSettings {
  model?: Model
  /** Thinking level of the turn. */
  thinking?: ThinkingLevel
  /** Tools of this turn. Duplicate names end the run with an error. */
  tools?: readonly AgentTool[]
  /** Names of the tools offered to the model. A call of another tool gets the error of an unknown tool. */
  activeTools?: readonly string[]
  systemPrompt?: string
  /** Messages to send instead of the history. The history stays unchanged. */
  messages?: readonly MessageInput[]
}

/** Progress of a run after a turn, if another turn would follow. The lists are copies. */
export interface RunProgress {
  /** Turns so far, including this one. */
  turns: number
  /** Messages that the run has added to the history. */
  messages: readonly AgentMessage[]
  /** The response of the last turn. */
  message: AssistantMessage & MessageEnvelope
  /** The tool results of the last turn. */
  toolResults: readonly ToolResultMessage[]
  /** Usage of the run's own model calls. */
  usage: Usage
  /** USD including everything charged to the run, at known prices. */
  costUsd: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** Decides whether a run ends here. `endedBy` names it by its `label`, or by its function name. */
export interface StopCondition {
  (progress: RunProgress): boolean | Promise<boolean>
  readonly label?: string
}

/**
 * Application callbacks at fixed points of a loop. All optional; all may be async, and the loop awaits each.
 *
 * **Order**
 * ```
 * beforeLoop → agentStart
 *   beforeTurn → turnStart → prepareTurn → turnPrepared?
 *     (beforeCompactionStart → compactionStarted … compactionEnded → afterCompactionEnd)?
 *     per call whose arguments cannot be parsed: repairToolCall
 *     per call: beforeToolExecution → toolExecutionStart
 *       (beforeToolExecutionUpdate → toolExecutionUpdate → afterToolExecutionUpdate)*
 *       beforeToolExecutionEnd → toolExecutionEnd → afterToolExecution
 *     afterAnswer, if the response has no calls
 *   turnEnd → afterTurn
 * agentEnd → afterLoop
 * ```
 * **Contract**
 * - `false` or `{ allow: false, reason }` refuses. `beforeLoop`, `beforeTurn`: the run ends with status `rejected`. `beforeToolExecution`:
 *   the call is skipped and the model gets the reason. `beforeToolExecutionUpdate`: the update is not emitted. `beforeCompactionStart`: no
 *   compaction this turn.
 * - A `before…` hook that throws refuses; the run then ends with status `error` if a refusal would end it. Errors of observers are logged
 *   as `hookFailed` and ignored.
 * - If `prepareTurn` or `afterAnswer` throws or returns an invalid value, the run ends with status `error`. If `beforeToolExecutionEnd`
 *   throws, the result is withheld and the call fails.
 * - A result that `beforeToolExecutionEnd` replaces appears nowhere. A replacement by `afterToolExecution` appears only in
 *   `toolExecutionEnd`; history, records and the model get the original result.
 * - `prepareTurn` also supplies the tools before approved calls of a paused run are executed.
 * - `prepareTurn` applies to this agent only; sub-agents do not inherit it.
 * - Hooks of one call run in order. The update hooks of a call finish before its `toolExecutionEnd`. Hooks of concurrent calls interleave.
 * - An abort ends every wait for a hook and aborts the hook's `signal`.
 * - `afterLoop` runs after every `agentEnd`, including one caused by `beforeLoop`.
 * - Hooks also cover the loops of sub-agents, each with its `loopId` and `agentName`, unless a sub-agent has hooks of its own.
 *
 * Source: docs/concepts/plugins.md
 */
export interface LoopHooks extends SharedHooks {
  /** Overrides the model, tools, system prompt, settings or messages of this turn. */
  prepareTurn?(turn: UpcomingTurn & HookOrigin): TurnChanges | undefined | Promise<TurnChanges | undefined>
}

/** Hooks that a script can implement: those whose verdict is only yes, no and a reason. */
export type ScriptableHook = Exclude<keyof LoopHooks, 'prepareTurn' | 'afterAnswer' | 'repairToolCall' | 'beforeToolExecutionEnd'>

/**
 * Maps hooks to scripts: a path such as `hooks/before-turn.sh`, or a command such as `python3 hooks/check`. Source: docs/reference/hooks.md
 */
export type HookScripts = { readonly [Hook in ScriptableHook]?: string }

import type { AgentMessage, AssistantMessage, MessageEnvelope, MessageInput, ToolResultMessage } from '../../contract/message/message.ts'
import type { RequestSettings, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { Model } from '../model/model.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { HookOrigin, SharedHooks } from './hooks.ts'

/** A turn before its request. The lists are copies, but their entries are shared: do not modify them. */
export interface UpcomingTurn<Context = unknown> {
  /** `context` of the prompt that started the run. */
  readonly context: Context
  /** Zero-based within the loop. */
  turnIndex: number
  /** The history. */
  messages: readonly AgentMessage[]
  /** The turn's model. The hook can change it. */
  model: Model
  tools: readonly AgentTool[]
  systemPrompt: string
  /** The run's usage so far. */
  usage: Usage
  /** The run's cost so far in USD, excluding calls without a known price. */
  costUsd: number
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
}

/** Returns the system prompt before a turn. Declared as a method so that TypeScript accepts functions with a narrower context type. */
export type SystemPromptFunction<Context = unknown> = { prompt(turn: UpcomingTurn<Context>): string | Promise<string> }['prompt']

/**
 * Overrides of the agent's settings for one turn. Absent fields keep the agent's value.
 *
 * Source: docs/concepts/limits.md
 */
export interface TurnChanges extends RequestSettings {
  model?: Model
  /** Thinking level for the turn. */
  thinking?: ThinkingLevel
  /** Tools available in this turn. Duplicate names end the run with an error. */
  tools?: readonly AgentTool[]
  /** Names of the tools offered to the model. A call to any other tool fails as unknown. */
  activeTools?: readonly string[]
  systemPrompt?: string
  /** Messages to send instead of the history. The history stays unchanged. */
  messages?: readonly MessageInput[]
}

/** A run's progress, after a turn that does not end the run by itself. The lists are copies. */
export interface RunProgress {
  /** Number of turns so far, including this turn. */
  turns: number
  /** Messages that the run has added to the history. */
  messages: readonly AgentMessage[]
  /** The response of the last turn. */
  message: AssistantMessage & MessageEnvelope
  /** The tool results of the last turn. */
  toolResults: readonly ToolResultMessage[]
  /** Usage of the run's own model calls. */
  usage: Usage
  /** Cost in USD of everything charged to the run, excluding calls without a known price. */
  costUsd: number
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
}

/** Decides whether a run ends after this turn. `endedBy` contains the condition's `label`, or its function name. */
export interface StopCondition {
  (progress: RunProgress): boolean | Promise<boolean>
  readonly label?: string
}

/**
 * Application callbacks at fixed points of a loop. All are optional and may be async. The loop awaits each.
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
 * - `false` or `{ allow: false, reason }` refuses the step. `beforeLoop`, `beforeTurn`: the run ends with status `rejected`.
 *   `beforeToolExecution`:
 *   the call is skipped and the model gets the reason. `beforeToolExecutionUpdate`: the update is not emitted. `beforeCompactionStart`: no
 *   compaction this turn.
 * - A `before…` hook that throws refuses the step. If the refusal ends the run, the status is `error`. Errors thrown by observers are
 *   logged as `hookFailed` and ignored.
 * - If `prepareTurn` or `afterAnswer` throws or returns an invalid value, the run ends with status `error`. If `beforeToolExecutionEnd`
 *   throws, the result is withheld and the call fails.
 * - A replacement from `beforeToolExecutionEnd` discards the original result everywhere. A replacement from `afterToolExecution` appears
 *   only in `toolExecutionEnd`. The history, the records and the model get the original result.
 * - `prepareTurn` also supplies the tools when a paused run executes approved calls.
 * - `prepareTurn` applies to this agent only. Sub-agents do not inherit it.
 * - A call's hooks run in order. A call's update hooks finish before its `toolExecutionEnd`. Hooks for concurrent calls interleave.
 * - An abort also aborts the hook's `signal`, and the run stops waiting for the hook.
 * - `afterLoop` runs after every `agentEnd`, even if `beforeLoop` refused the run.
 * - Hooks also run for sub-agent loops, with the sub-agent's `loopId` and `agentName`, unless the sub-agent sets `hooks`.
 *
 * Source: docs/concepts/plugins.md
 */
export interface LoopHooks<Context = unknown> extends SharedHooks<Context> {
  /** Overrides the model, tools, system prompt, settings or messages of this turn. */
  prepareTurn?(turn: UpcomingTurn<Context> & HookOrigin<Context>): TurnChanges | undefined | Promise<TurnChanges | undefined>
}

/** Hooks that a script can implement, because their verdict is only an approval or a refusal with a reason. */
export type ScriptableHook = Exclude<keyof LoopHooks, 'prepareTurn' | 'afterAnswer' | 'repairToolCall' | 'beforeToolExecutionEnd'>

/**
 * Maps hooks to scripts: a path such as `hooks/before-turn.sh`, or a command such as `python3 hooks/check`. Source: docs/reference/hooks.md
 */
export type HookScripts = { readonly [Hook in ScriptableHook]?: string }

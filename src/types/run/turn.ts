import type { AgentMessage, AssistantMessage, MessageEnvelope, MessageInput, ToolResultMessage } from '../../contract/message/message.ts'
import type { RequestSettings, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { Model } from '../model/model.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { HookOrigin, SharedHooks } from './hooks.ts'

/** A turn before its request is made. The lists are copies; their entries must not be changed. */
export interface UpcomingTurn {
  /** Counts from 0 within the loop. */
  turnIndex: number
  /** The history. */
  messages: readonly AgentMessage[]
  /** What the turn has unless something is changed. */
  model: Model
  tools: readonly AgentTool[]
  systemPrompt: string
  /** Of the run so far. */
  usage: Usage
  /** USD of the run so far, at the prices that are known. */
  costUsd: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/**
 * What one turn has in place of what the agent says. It holds for this turn alone; what is left out stays.
 *
 * Source: docs/concepts/limits.md
 */
export interface TurnChanges extends RequestSettings {
  model?: Model
  /** How deep the model thinks. */
  thinking?: ThinkingLevel
  /** The tools of this turn. Two of one name end the run, as a hook that throws does. */
  tools?: readonly AgentTool[]
  /** Names of those that are offered. A call of another one is answered as a tool that there is not. */
  activeTools?: readonly string[]
  systemPrompt?: string
  /** What is sent in place of the history. The history stays. */
  messages?: readonly MessageInput[]
}

/** What a run has done so far, once a turn has ended that would be followed by another. The lists are copies. */
export interface RunProgress {
  /** Turns so far; the first one is 1. */
  turns: number
  /** Messages that the run has added to the history. */
  messages: readonly AgentMessage[]
  /** The answer of the last turn. */
  message: AssistantMessage & MessageEnvelope
  /** The results of its calls. */
  toolResults: readonly ToolResultMessage[]
  /** Of the run's own model calls. */
  usage: Usage
  /** USD, also of what was charged to the run, at the prices that are known. */
  costUsd: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** Says whether a run ends here. Its `label` names it in `endedBy`; else its function's name does. */
export interface StopCondition {
  (progress: RunProgress): boolean | Promise<boolean>
  readonly label?: string
}

/**
 * Code of the application at fixed points of a loop. All optional, all may be async; the loop waits for each.
 *
 * **Order**
 * ```
 * beforeLoop → agentStart
 *   beforeTurn → turnStart → prepareTurn → turnPrepared?
 *     (beforeCompactionStart → compactionStarted … compactionEnded → afterCompactionEnd)?
 *     per call whose arguments cannot be read: repairToolCall
 *     per call: beforeToolExecution → toolExecutionStart
 *       (beforeToolExecutionUpdate → toolExecutionUpdate → afterToolExecutionUpdate)*
 *       beforeToolExecutionEnd → toolExecutionEnd → afterToolExecution
 *     afterAnswer, where the answer has no calls
 *   turnEnd → afterTurn
 * agentEnd → afterLoop
 * ```
 * **Contract**
 * - `false`, or `{ allow: false, reason }`, from `beforeLoop` or `beforeTurn` ends the run with status `rejected`; from `beforeToolExecution` the
 *   model is told that the call was skipped; from `beforeToolExecutionUpdate` the update is not reported; from `beforeCompactionStart` nothing
 *   is compacted this turn.
 * - A `before…` hook that throws counts as `false` (and ends the run with status `error` where `false` would end it). An error of an observer
 *   is logged as `hookFailed` and ignored.
 * - `prepareTurn` and `afterAnswer` that throw, or answer what they may not, end the run with status `error`. A `beforeToolExecutionEnd` that throws
 *   withholds the result: the call has failed then.
 * - What `beforeToolExecutionEnd` replaces nobody sees. What `afterToolExecution` replaces is in its `toolExecutionEnd` only: history, records and
 *   the model have the other result.
 * - `prepareTurn` is asked for its tools too before calls are run that waited for a person.
 * - `prepareTurn` holds for this agent alone: sub-agents do not inherit it.
 * - Hooks of one call run in order; its update hooks have all run when its `toolExecutionEnd` is emitted. Calls that run at the same time have
 *   their hooks interleaved.
 * - An abort ends every wait for a hook; the hook itself is told through `signal`.
 * - `afterLoop` runs after every `agentEnd`, also after the one that `beforeLoop` caused.
 * - They hold for the loops of sub-agents too, each with its `loopId` and `agentName`, unless a sub-agent is given its own.
 *
 * Source: docs/concepts/plugins.md
 */
export interface LoopHooks extends SharedHooks {
  /** Changes what this turn has: its model, tools, system prompt, settings, messages. */
  prepareTurn?(turn: UpcomingTurn & HookOrigin): TurnChanges | undefined | Promise<TurnChanges | undefined>
}

/** The hooks that a script can stand for: what the others answer is more than yes, no and words. */
export type ScriptableHook = Exclude<keyof LoopHooks, 'prepareTurn' | 'afterAnswer' | 'repairToolCall' | 'beforeToolExecutionEnd'>

/** A script for each hook: a path, such as `hooks/before-turn.sh`, or `python3 hooks/check` to say what runs it. Source: docs/reference/hooks.md */
export type HookScripts = { readonly [Hook in ScriptableHook]?: string }

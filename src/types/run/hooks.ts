import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { StandardSchema } from '../standard-schema.ts'
import type { SendData } from './data.ts'

/** Refusal with a reason. If a call is skipped, the model gets the reason. If the run ends, the result contains the reason. */
export interface HookRefusal {
  allow: false
  reason?: string
}

/** Verdict of a `before…` hook: `false` or a refusal stops or skips the next step. Any other value continues. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type HookVerdict = boolean | HookRefusal | undefined | void | Promise<boolean | HookRefusal | undefined | void>

/** Return value of an observer. The loop awaits it and ignores the result. */
export type HookDone = unknown

/** Identifies the loop that calls a hook. A run's hooks also cover its sub-agents, unless a sub-agent sets its own hooks. */
export interface HookOrigin<Context = unknown> {
  /** `context` of the prompt that started the run. */
  readonly context: Context
  /** Sends a named JSON value to user interfaces. */
  readonly data: SendData
  loopId: string
  agentId: string
  /** Name of the sub-agent, or of the agent if it has one. */
  agentName?: string
}

/** The turn passed to a hook. `messages` is a copy of the list, but its entries belong to the history: do not modify them. */
export interface TurnHookInfo<Context = unknown> extends HookOrigin<Context> {
  /** Zero-based within the loop. */
  turnIndex: number
  messages: readonly AgentMessage[]
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
}

/** The tool call passed to a hook. */
export interface ToolHookInfo<Context = unknown> extends HookOrigin<Context> {
  toolCallId: string
  toolName: string
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
}

/** A tool call before execution. */
export interface BeforeToolInfo<Context = unknown> extends ToolHookInfo<Context> {
  /** A copy of the model's arguments. Changing it has no effect. */
  args: JsonObject
  /**
   * Requests an approval for this call and resolves with the decision.  - Emits `approvalRequested` and waits.
   * - A denial is final, whatever the hook returns. Repeated calls return the same decision.
   * - If the approval times out, the call stays pending and the run ends `paused`.
   * - A pending request is withdrawn if the hook refuses the call or replaces its arguments.
   * - Rejects when the run is stopped, and with `ConfigError` `unknownCall` after the hook has returned.
   */
  requestApproval(): Promise<boolean>
}

/**
 * Replaces a call's arguments. They are validated like the model's own. If the call was or must be approved, a new approval is requested.
 */
export interface ReplacedArguments {
  arguments: JsonObject
}

/** Replaces the result of a tool call. */
export interface ReplacedResult {
  result: ToolResult
}

/** A complete tool call with arguments that cannot be parsed. */
export interface BrokenCallInfo<Context = unknown> extends ToolHookInfo<Context> {
  /** The arguments as the model wrote them. */
  text: string
  /** Why the arguments cannot be parsed. */
  fault: string
  /** The tool's parameters: a Standard Schema or JSON Schema. */
  parameters: StandardSchema | JsonSchema
}

/** Repaired arguments from `repairToolCall`. `undefined` sends the error to the model. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type RepairedArguments = ReplacedArguments | undefined | void

/** A response that would end the run. */
export interface AnswerHookInfo<Context = unknown> extends TurnHookInfo<Context> {
  /** A copy of the response. */
  message: AssistantMessage
  /** The response's text. */
  text: string
  /** Number of earlier responses in this run that were refused. */
  refusals: number
}

/**
 * Verdict of `afterAnswer`: a refusal, a replacement text, or nothing. After the first refusal, the loop calls the model again with the
 * reason. A second refusal, or `retry: false`, ends the run as `rejected`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type AnswerVerdict = (HookRefusal & { retry?: false }) | { text: string } | boolean | undefined | void

/** Statistics for one compaction. Token counts are estimates. */
export interface CompactionFigures {
  messagesBefore: number
  messagesAfter: number
  tokensBefore: number
  tokensAfter: number
}

/** Hooks of a run that also cover its sub-agents. See `LoopHooks` for all hooks and their order. */
export interface SharedHooks<Context = unknown> {
  beforeLoop?(info: HookOrigin<Context> & { messages: readonly AgentMessage[]; signal: AbortSignal }): HookVerdict
  /** `messages` contains the messages that the loop added. */
  afterLoop?(info: HookOrigin<Context> & { messages: readonly AgentMessage[]; usage: Usage; status: RunStatus }): HookDone
  beforeTurn?(info: TurnHookInfo<Context>): HookVerdict
  afterTurn?(
    info: TurnHookInfo<Context> & { message: AssistantMessage & MessageEnvelope; toolResults: readonly ToolResultMessage[]; usage: Usage },
  ): HookDone
  /**
   * Checks a response before it ends the run, and can refuse it or replace its text. By then the deltas have been emitted, so
   * `message.guarded` marks the response.
   */
  afterAnswer?(info: AnswerHookInfo<Context>): AnswerVerdict | Promise<AnswerVerdict>
  /** Called when a model call fails after all retries. Not called for an abort. */
  onError?(info: HookOrigin<Context> & { error: RunFailure; turnIndex: number; signal: AbortSignal }): HookDone
  /**
   * Returns arguments for a call whose original arguments cannot be parsed or repaired unambiguously. The result is validated and approved
   * like the model's arguments. Not called for a truncated call. If the hook throws, the model gets the call's error.
   */
  repairToolCall?(info: BrokenCallInfo<Context>): RepairedArguments | Promise<RepairedArguments>
  beforeToolExecution?(info: BeforeToolInfo<Context>): HookVerdict | ReplacedArguments | Promise<ReplacedArguments | Awaited<HookVerdict>>
  /** Can replace a tool result before it is emitted, recorded or sent. */
  beforeToolExecutionEnd?(
    info: ToolHookInfo<Context> & { isError: boolean; result: ToolResult },
  ): ReplacedResult | undefined | Promise<ReplacedResult | undefined>
  /** Ignores any return value except `{ result }`. */
  afterToolExecution?(
    info: ToolHookInfo<Context> & { isError: boolean; result: ToolResult },
  ): HookDone | ReplacedResult | Promise<ReplacedResult>
  beforeToolExecutionUpdate?(info: ToolHookInfo<Context> & { partialResult: ToolResult }): HookVerdict
  afterToolExecutionUpdate?(info: ToolHookInfo<Context> & { partialResult: ToolResult }): HookDone
  beforeCompactionStart?(info: HookOrigin<Context> & { estimatedTokens: number; messageCount: number; signal: AbortSignal }): HookVerdict
  afterCompactionEnd?(info: HookOrigin<Context> & CompactionFigures & { signal: AbortSignal }): HookDone
}

/**
 * A plugin created by `definePlugin`. Experimental: may change in a minor version.
 *
 * Source: docs/concepts/plugins.md
 */
export interface AgentPlugin {
  /** Identifies the plugin in errors, log lines and recorded notes. */
  readonly name: string
  /** `tree` also covers sub-agent runs. */
  readonly covers: 'agent' | 'tree'
}

import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { StandardSchema } from '../standard-schema.ts'

/** Refuses, with a reason: sent to the model if a call is skipped, in the result if a run ends. */
export interface HookRefusal {
  allow: false
  reason?: string
}

/** Verdict of a `before…` hook: `false` or a refusal stops or skips the next step; any other value continues. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type HookVerdict = boolean | HookRefusal | undefined | void | Promise<boolean | HookRefusal | undefined | void>

/** Return value of an observer: awaited and ignored. */
export type HookDone = unknown

/** Identifies the loop that calls a hook. The hooks of a run also cover its sub-agents, unless those have hooks of their own. */
export interface HookOrigin {
  loopId: string
  agentId: string
  /** Name of the sub-agent, or of the agent if it has one. */
  agentName?: string
}

/** The turn that a hook gets. `messages` is a copy of the list; do not change its entries, they are the history. */
export interface TurnHookInfo extends HookOrigin {
  /** Zero-based within the loop. */
  turnIndex: number
  messages: readonly AgentMessage[]
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** The tool call that a hook gets. */
export interface ToolHookInfo extends HookOrigin {
  toolCallId: string
  toolName: string
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** A tool call before its execution. */
export interface BeforeToolInfo extends ToolHookInfo {
  /** A copy of the model's arguments; changing it has no effect. */
  args: JsonObject
  /**
   * Requests an approval for this call and resolves with the decision.
   *
   * - Emits `approvalRequested` while it waits.
   * - A denial is final, whatever the hook returns. Repeated calls return the same decision.
   * - If the approval times out, the call stays pending and the run ends `paused`.
   * - A pending request is withdrawn if the hook refuses the call or replaces its arguments.
   * - Rejects when the run is stopped, and with `ConfigError` `unknownCall` after the hook has returned.
   */
  requestApproval(): Promise<boolean>
}

/**
 * Replaces the arguments of a call. They are validated like the model's own. If the call was or must be approved, a new approval is
 * requested.
 */
export interface ReplacedArguments {
  arguments: JsonObject
}

/** Replaces the result of a tool call. */
export interface ReplacedResult {
  result: ToolResult
}

/** A complete tool call whose arguments cannot be parsed. */
export interface BrokenCallInfo extends ToolHookInfo {
  /** The arguments as the model wrote them. */
  text: string
  /** Why they cannot be parsed. */
  fault: string
  /** Parameters of the tool: a Standard Schema or JSON Schema. */
  parameters: StandardSchema | JsonSchema
}

/** Arguments from `repairToolCall`. `undefined` sends the error to the model. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type RepairedArguments = ReplacedArguments | undefined | void

/** A response that would end the run. */
export interface AnswerHookInfo extends TurnHookInfo {
  /** A copy of the response. */
  message: AssistantMessage
  /** Text of the response. */
  text: string
  /** How many responses of this run were refused before. */
  refusals: number
}

/**
 * Verdict of `afterAnswer`: a refusal, a replacement text, or nothing. The first refusal asks the model again, with the reason. The second
 * one ends the run as `rejected`; `retry: false` does so at once.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type AnswerVerdict = (HookRefusal & { retry?: false }) | { text: string } | boolean | undefined | void

/** Figures of one compaction; tokens are estimates. */
export interface CompactionFigures {
  messagesBefore: number
  messagesAfter: number
  tokensBefore: number
  tokensAfter: number
}

/** Hooks of a run that also cover its sub-agents. See `LoopHooks` for all hooks and their order. */
export interface SharedHooks {
  beforeLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; signal: AbortSignal }): HookVerdict
  /** `messages` are those that the loop added. */
  afterLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; usage: Usage; status: RunStatus }): HookDone
  beforeTurn?(info: TurnHookInfo): HookVerdict
  afterTurn?(
    info: TurnHookInfo & { message: AssistantMessage & MessageEnvelope; toolResults: readonly ToolResultMessage[]; usage: Usage },
  ): HookDone
  /**
   * Checks a response before it ends the run; may refuse it or replace its text. Its deltas were already emitted; `message.guarded` marks
   * it.
   */
  afterAnswer?(info: AnswerHookInfo): AnswerVerdict | Promise<AnswerVerdict>
  /** Called when a model call fails after all retries. Not called for an abort. */
  onError?(info: HookOrigin & { error: RunFailure; turnIndex: number; signal: AbortSignal }): HookDone
  /**
   * Returns arguments for a call whose own cannot be parsed or repaired unambiguously. They are validated and approved like the model's
   * own. Not called for a truncated call. If it throws, the error of the call goes to the model.
   */
  repairToolCall?(info: BrokenCallInfo): RepairedArguments | Promise<RepairedArguments>
  beforeToolExecution?(info: BeforeToolInfo): HookVerdict | ReplacedArguments | Promise<ReplacedArguments | Awaited<HookVerdict>>
  /** Replaces a tool result before it is emitted, recorded or sent. */
  beforeToolExecutionEnd?(
    info: ToolHookInfo & { isError: boolean; result: ToolResult },
  ): ReplacedResult | undefined | Promise<ReplacedResult | undefined>
  /** Its return value is ignored, except for `{ result }`. */
  afterToolExecution?(info: ToolHookInfo & { isError: boolean; result: ToolResult }): HookDone | ReplacedResult | Promise<ReplacedResult>
  beforeToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookVerdict
  afterToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookDone
  beforeCompactionStart?(info: HookOrigin & { estimatedTokens: number; messageCount: number; signal: AbortSignal }): HookVerdict
  afterCompactionEnd?(info: HookOrigin & CompactionFigures & { signal: AbortSignal }): HookDone
}

/**
 * A plugin, as `definePlugin` creates it. Experimental: a minor version may change it.
 *
 * Source: docs/concepts/plugins.md
 */
export interface AgentPlugin {
  /** Identifies it in errors, log lines and records of its notes. */
  readonly name: string
  /** `tree` also covers the runs of sub-agents. */
  readonly covers: 'agent' | 'tree'
}

import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { AgentMessage, AssistantMessage, MessageEnvelope, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure, RunStatus } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { StandardSchema } from '../standard-schema.ts'

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
   * Asks a person whether this call may run; resolves with the answer. The wait is an `approvalRequested` event. A refusal is final, also when the
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

/** What a hook gives in place of a tool's result. */
export interface ReplacedResult {
  result: ToolResult
}

/** A tool call whose arguments cannot be read, and which was not cut. */
export interface BrokenCallInfo extends ToolHookInfo {
  /** The arguments as the model wrote them. */
  text: string
  /** Why they cannot be read. */
  fault: string
  /** What the tool takes: a Standard Schema, or JSON Schema. */
  parameters: StandardSchema | JsonSchema
}

/** The arguments that `repairToolCall` gives; nothing: the model is told what is wrong. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that returns nothing is the common case, also an async one
export type RepairedArguments = ReplacedArguments | undefined | void

/** An answer that would end the run, before it does. */
export interface AnswerHookInfo extends TurnHookInfo {
  /** A copy of the answer. */
  message: AssistantMessage
  /** Its text. */
  text: string
  /** How often an answer of this run was refused before. */
  refusals: number
}

/**
 * What `afterAnswer` answers: a refusal, other words for the answer, or nothing. A refused answer is asked for once more, with the reason; the second refusal
 * ends the run as `rejected`, and `retry: false` does so at once.
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

/** The hooks of a run that hold for its sub-agents too. See `LoopHooks` for all of them and their order. */
export interface SharedHooks {
  beforeLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; signal: AbortSignal }): HookVerdict
  /** `messages` are those the loop added. */
  afterLoop?(info: HookOrigin & { messages: readonly AgentMessage[]; usage: Usage; status: RunStatus }): HookDone
  beforeTurn?(info: TurnHookInfo): HookVerdict
  afterTurn?(
    info: TurnHookInfo & { message: AssistantMessage & MessageEnvelope; toolResults: readonly ToolResultMessage[]; usage: Usage },
  ): HookDone
  /** Sees an answer before it ends the run: it may refuse it, or give other words. What was streamed has been seen; `message.guarded` says so. */
  afterAnswer?(info: AnswerHookInfo): AnswerVerdict | Promise<AnswerVerdict>
  /** A model call failed for good. Not called for an abort. */
  onError?(info: HookOrigin & { error: RunFailure; turnIndex: number; signal: AbortSignal }): HookDone
  /**
   * Gives arguments for a call whose own ones cannot be read, and have no single reading either. They are validated, and approved, like the model's own. Not
   * asked about a call that was cut. If it throws, the model is told what is wrong with the call.
   */
  repairToolCall?(info: BrokenCallInfo): RepairedArguments | Promise<RepairedArguments>
  beforeToolExecution?(info: BeforeToolInfo): HookVerdict | ReplacedArguments | Promise<ReplacedArguments | Awaited<HookVerdict>>
  /** Gives another result in place of a call's, before anybody sees it. */
  beforeToolExecutionEnd?(
    info: ToolHookInfo & { isError: boolean; result: ToolResult },
  ): ReplacedResult | undefined | Promise<ReplacedResult | undefined>
  /** What it returns is ignored, but for `{ result }`. */
  afterToolExecution?(info: ToolHookInfo & { isError: boolean; result: ToolResult }): HookDone | ReplacedResult | Promise<ReplacedResult>
  beforeToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookVerdict
  afterToolExecutionUpdate?(info: ToolHookInfo & { partialResult: ToolResult }): HookDone
  beforeCompactionStart?(info: HookOrigin & { estimatedTokens: number; messageCount: number; signal: AbortSignal }): HookVerdict
  afterCompactionEnd?(info: HookOrigin & CompactionFigures & { signal: AbortSignal }): HookDone
}

/**
 * A feature that joins the runs of an agent, as `definePlugin` makes it. Experimental: a minor version may change it.
 *
 * Source: docs/concepts/plugins.md
 */
export interface AgentPlugin {
  /** Names it in errors, in log lines, and in the records of its notes. */
  readonly name: string
  /** `tree`: it joins the runs of sub-agents too. */
  readonly covers: 'agent' | 'tree'
}

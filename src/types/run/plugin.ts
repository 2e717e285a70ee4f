import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AssistantMessage, Message, MessageEnvelope, MessageInput, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { Model } from '../model/model.ts'
import type { AnswerHookInfo, AnswerVerdict, HookDone, HookVerdict, TurnHookInfo } from './hooks.ts'
import type { RunEnding } from './run.ts'

/** The run that a plugin joins. */
export interface PluginRun {
  readonly runId: string
  readonly loopId: string
  readonly sessionId: string
  readonly agentId: string
  /** Name of the sub-agent, or of the agent if it has one. */
  readonly agentName?: string
  /** Aborts when the run is stopped; owned by the loop. */
  readonly signal: AbortSignal
  /** A copy of the latest notes of this session, from this run or an earlier one. */
  readonly notes: JsonValue | undefined
  /**
   * Replaces the notes. They are stored at the end of the turn as an extension record that no model sees. Notes set after the last turn, as
   * in `ending`, are lost and logged as `notesLost`.
   */
  keep(notes: JsonValue): void
  /** Asks a model and charges the run. Rejects if the call fails, a limit is reached or the run is stopped. */
  ask(prompt: string, options?: PluginQuestion): Promise<string>
}

/** Options of a model call by a plugin. */
export interface PluginQuestion {
  /** Default: the model of the turn. */
  model?: Model
  /** Default: none. */
  systemPrompt?: string
}

/** A request before it is sent. Do not change the list, return another one. */
export interface PluginRequest {
  /** Zero-based within the loop. */
  turnIndex: number
  systemPrompt: string
  messages: readonly Message[]
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** Replacements for this request; the history stays unchanged. */
export interface RequestChanges {
  systemPrompt?: string
  /** Reuse the objects of messages that stay unchanged, so they are not encoded again. */
  messages?: readonly MessageInput[]
}

/** A piece of streamed text or thinking. */
export interface ResponseDelta {
  type: 'text' | 'thinking'
  /** Id of the growing message. A retried call has another id. */
  messageId: string
  /** Index of the content block in the message. */
  contentIndex: number
  /** May be empty with `isLast`. */
  text: string
  /** The last delta of the block: return any text held back. */
  isLast: boolean
  /** With `isLast`: an abort, failure or limit truncated the response. Text held back may end in the middle of a word. */
  isCut: boolean
}

/** A failed request that would end the turn. */
export interface FailedRequest {
  error: RunFailure
  turnIndex: number
  /** How often plugins have retried this turn before. */
  retries: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** Retries the request. */
export interface RequestRetry {
  retry: true
  /** Milliseconds to wait before the retry. Default: 0. */
  delayMs?: number
}

/** A tool call with valid arguments and, if required, an approval. */
export interface PluginCall {
  toolCallId: string
  toolName: string
  /** A copy. */
  args: JsonObject
  /** Aborts when the run is stopped or the call times out; owned by the loop. */
  signal: AbortSignal
}

/** A finished turn, as `afterTurn` receives it. */
export interface PluginTurn extends TurnHookInfo {
  message: AssistantMessage & MessageEnvelope
  toolResults: readonly (ToolResultMessage & MessageEnvelope)[]
  usage: Usage
}

/**
 * Stages where a plugin joins a run. All optional.
 *
 * **Order**: `beforeTurn`, `request`, `delta`…, `response` or `requestFailed`, `call` for each call, `afterTurn`; `idle` when the model has
 * finished; then `ending`, `agentEnd`, `close`.
 *
 * **Contract**
 * - Plugins run in the order of the agent's list; each sees the changes of those before it. In `call`, the first plugin is outermost.
 * - The agent's guards run after them: hooks, input filters, approval, budgets and schema checks apply to the output of plugins.
 * - If a deciding stage throws or returns an invalid value, the run ends with status `error`; in `call`, the call fails instead. Errors of
 *   `afterTurn`, `ending` and `close` are logged as `hookFailed`.
 * - An abort ends every wait for a stage.
 */
export interface PluginStages {
  /** Ends the run as `rejected` with `false` or `{ allow: false, reason }`. */
  beforeTurn?(turn: TurnHookInfo): HookVerdict
  /** Changes the request, never the history. Called once per turn, and again after an overflow shortened the request. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  request?(request: PluginRequest): RequestChanges | undefined | void | Promise<RequestChanges | undefined | void>
  /** Replaces the text of a delta. Synchronous. The original text appears in no event, message or record. */
  delta?(delta: ResponseDelta): string
  /** Checks a response before it enters the history, including one with tool calls. A replaced or refused response loses its tool calls. */
  response?(response: AnswerHookInfo): AnswerVerdict | Promise<AnswerVerdict>
  /** Decides whether to retry a failed request, at most three times per turn. Not called for an abort. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  requestFailed?(failed: FailedRequest): RequestRetry | undefined | void | Promise<RequestRetry | undefined | void>
  /**
   * Wraps a tool call. `run` calls the next plugin or the tool, and rejects after the stage has returned. Returns the result of the call.
   */
  call?(call: PluginCall, run: () => Promise<ToolResult>): ToolResult | Promise<ToolResult>
  afterTurn?(turn: PluginTurn): HookDone
  /** Returns input for the model to process before the run may end. Synchronous, so no message queued in the meantime is lost. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case
  idle?(): string | undefined | void
  /** Receives the ending of the run, right before `agentEnd`. Synchronous. */
  ending?(ending: RunEnding): void
  /** Releases the resources of the plugin. An aborted run still waits up to one second for it. */
  close?(): HookDone
}

/** Definition of a plugin, for `definePlugin`. */
export interface PluginDefinition {
  /** Matches `[a-zA-Z0-9_-]{1,64}`. */
  name: string
  /** Default: `agent`. */
  covers?: 'agent' | 'tree'
  /** Called when a run starts; returns the stages for that run. An error ends the run. Synchronous: returning a promise is an error. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a plugin that stays out of a run returns nothing
  begin(run: PluginRun): PluginStages | undefined | void
}

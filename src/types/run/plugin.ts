import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AssistantMessage, Message, MessageEnvelope, MessageInput, ToolResultMessage } from '../../contract/message/message.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunFailure } from '../../contract/run/run-facts.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { Model } from '../model/model.ts'
import type { SendData } from './data.ts'
import type { AnswerHookInfo, AnswerVerdict, HookDone, HookVerdict, TurnHookInfo } from './hooks.ts'
import type { RunEnding } from './run.ts'

/** The run that a plugin joins. */
export interface PluginRun {
  /** `context` of the prompt that started the run. */
  readonly context: unknown
  /** Sends a named JSON value to user interfaces. */
  readonly data: SendData
  readonly runId: string
  readonly loopId: string
  readonly sessionId: string
  readonly agentId: string
  /** Name of the sub-agent or agent, if set. */
  readonly agentName?: string
  /** Aborts when the run is stopped. The loop owns the signal. */
  readonly signal: AbortSignal
  /** Copy of the plugin's latest notes in this session, from this or an earlier run. */
  readonly notes: JsonValue | undefined
  /**
   * Replaces the notes, which are stored at the end of the turn and never sent to a model. Notes set after the last turn, such as in
   * `ending`, are lost and logged as `notesLost`.
   */
  keep(notes: JsonValue): void
  /** Calls a model and charges the run. Rejects if the call fails, a limit is reached or the run is stopped. */
  ask(prompt: string, options?: PluginQuestion): Promise<string>
}

/** Options for a plugin's model call. */
export interface PluginQuestion {
  /** Model to call. Default: the turn's model. */
  model?: Model
  /** Default: none. */
  systemPrompt?: string
}

/** A request before it is sent. Do not modify `messages`. Return a new list instead. */
export interface PluginRequest {
  /** Zero-based within the loop. */
  turnIndex: number
  systemPrompt: string
  messages: readonly Message[]
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
}

/** Changes to this request. The history stays unchanged. */
export interface RequestChanges {
  systemPrompt?: string
  /** Reuse the objects of unchanged messages, so that their encoded form stays cached. */
  messages?: readonly MessageInput[]
}

/** A piece of streamed text or thinking. */
export interface ResponseDelta {
  type: 'text' | 'thinking'
  /** Id of the streaming message. A retry uses a new id. */
  messageId: string
  /** Index of the content block in the message. */
  contentIndex: number
  /** The new text. May be empty if `isLast` is set. */
  text: string
  /** Whether this is the block's last delta. Return any text that the plugin held back. */
  isLast: boolean
  /** Set with `isLast` if an abort, failure or limit truncated the response. Held-back text may end mid-word. */
  isCut: boolean
}

/** A failed request, before it ends the turn. */
export interface FailedRequest {
  error: RunFailure
  turnIndex: number
  /** Number of earlier retries in this turn that plugins requested. */
  retries: number
  /** Aborts when the run is stopped. The loop owns the signal. */
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
  /** Aborts when the run is stopped or the call times out. The loop owns the signal. */
  signal: AbortSignal
}

/** A finished turn, passed to `afterTurn`. */
export interface PluginTurn extends TurnHookInfo {
  message: AssistantMessage & MessageEnvelope
  toolResults: readonly (ToolResultMessage & MessageEnvelope)[]
  usage: Usage
}

/**
 * A plugin's callbacks for a run's stages. All are optional.
 *
 * **Order**: `beforeTurn`, `request`, `delta`…, `response` or `requestFailed`, `call` for each call, `afterTurn`; `idle` when the model has
 * finished; then `ending`, `agentEnd`, `close`.
 *
 * **Contract**
 * - Plugins run in the agent's list order. Each plugin sees the changes made by earlier plugins. In `call`, the first plugin is outermost.
 * - The agent's guards run after plugins: hooks, input filters, approval, budgets and schema checks apply to plugin output.
 * - If a deciding stage throws or returns an invalid value, the run ends with status `error`. In `call`, only the call fails. Errors thrown
 *   by `afterTurn`, `ending` and `close` are logged as `hookFailed`.
 * - An abort stops the run from waiting for a stage.
 */
export interface PluginStages {
  /** Runs before a turn. `false` or `{ allow: false, reason }` ends the run as `rejected`. */
  beforeTurn?(turn: TurnHookInfo): HookVerdict
  /** Changes the request, never the history. Called once per turn, and again if a context overflow shortened the request. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  request?(request: PluginRequest): RequestChanges | undefined | void | Promise<RequestChanges | undefined | void>
  /** Replaces a delta's text. Synchronous. The original text appears in no event, message or record. */
  delta?(delta: ResponseDelta): string
  /**
   * Checks a response before it enters the history, including responses with tool calls. A replaced or refused response loses its tool
   * calls.
   */
  response?(response: AnswerHookInfo): AnswerVerdict | Promise<AnswerVerdict>
  /** Decides whether to retry a failed request, at most three times per turn. Not called for an abort. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  requestFailed?(failed: FailedRequest): RequestRetry | undefined | void | Promise<RequestRetry | undefined | void>
  /**
   * Wraps a tool call. `run` calls the next plugin or the tool, and rejects once the stage has returned. The stage returns the call's
   * result.
   */
  call?(call: PluginCall, run: () => Promise<ToolResult>): ToolResult | Promise<ToolResult>
  afterTurn?(turn: PluginTurn): HookDone
  /** Returns input for the model to process before the run may end. Synchronous, so no message queued in the meantime is lost. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case
  idle?(): string | undefined | void
  /** Receives the run's ending, immediately before `agentEnd`. Synchronous. */
  ending?(ending: RunEnding): void
  /** Releases the plugin's resources. Even an aborted run waits up to one second for `close`. */
  close?(): HookDone
}

/** Definition of a plugin, for `definePlugin`. */
export interface PluginDefinition {
  /** Matches `[a-zA-Z0-9_-]{1,64}`. */
  name: string
  /** Default: `agent`. */
  covers?: 'agent' | 'tree'
  /** Called when a run starts. Returns the stages for that run. An error ends the run. Synchronous: returning a promise is an error. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a plugin that stays out of a run returns nothing
  begin(run: PluginRun): PluginStages | undefined | void
}

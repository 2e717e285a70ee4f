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
  /** Of the sub-agent, or of the agent where it has one. */
  readonly agentName?: string
  /** Aborts when the run is stopped; owned by the loop. */
  readonly signal: AbortSignal
  /** A copy of what it kept last in this session, in this run or an earlier one. */
  readonly notes: JsonValue | undefined
  /**
   * Keeps `notes` in place of those before. They go into the session at the end of the turn, as an extension record that no model sees. Notes that no turn
   * follows, as those of `ending`, are lost and logged as `notesLost`.
   */
  keep(notes: JsonValue): void
  /** Asks a model, charged to the run. Rejects when the call fails, a limit of the run is reached or the run is stopped. */
  ask(prompt: string, options?: PluginQuestion): Promise<string>
}

/** How a plugin asks a model. */
export interface PluginQuestion {
  /** Default: the model of the turn. */
  model?: Model
  /** Default: none. */
  systemPrompt?: string
}

/** What is about to be sent. The list is the loop's: give another one instead of changing it. */
export interface PluginRequest {
  /** Counts from 0 within the loop. */
  turnIndex: number
  systemPrompt: string
  messages: readonly Message[]
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** What is sent in place of it; the history stays. */
export interface RequestChanges {
  systemPrompt?: string
  /** Messages that are in the request already stay the same objects: what they cost to encode is spent once. */
  messages?: readonly MessageInput[]
}

/** A piece of what the model writes or thinks. */
export interface ResponseDelta {
  type: 'text' | 'thinking'
  /** Of the message that grows; another one where a failed call is repeated. */
  messageId: string
  /** The block of the message that grows. */
  contentIndex: number
  /** May be empty with `isLast`. */
  text: string
  /** Nothing follows in this block: what was held back is to be given now. */
  isLast: boolean
  /** With `isLast`: the response was cut off, by an abort, a failure or a limit. What was held back may be half a word. */
  isCut: boolean
}

/** A request that failed and would end the turn. */
export interface FailedRequest {
  error: RunFailure
  turnIndex: number
  /** How often this turn was repeated for plugins before. */
  retries: number
  /** Aborts when the run is stopped; owned by the loop. */
  signal: AbortSignal
}

/** Asks to send the request again. */
export interface RequestRetry {
  retry: true
  /** Milliseconds to wait before. Default 0. */
  delayMs?: number
}

/** A tool call that may run: its arguments are checked, and where a person had to be asked, that person said yes. */
export interface PluginCall {
  toolCallId: string
  toolName: string
  /** A copy. */
  args: JsonObject
  /** Aborts when the run is stopped, or the call takes too long; owned by the loop. */
  signal: AbortSignal
}

/** A turn that has ended. */
export interface PluginTurn extends TurnHookInfo {
  message: AssistantMessage & MessageEnvelope
  toolResults: readonly (ToolResultMessage & MessageEnvelope)[]
  usage: Usage
}

/**
 * Where a plugin joins a run. All optional.
 *
 * **Order**: `beforeTurn`, `request`, `delta`…, `response` or `requestFailed`, `call` for each call, `afterTurn`; and when the model has nothing more to do
 * `idle`; then `ending`, `agentEnd`, `close`.
 *
 * **Contract**
 * - Plugins are asked in the order of the agent's list; each sees what those before made of it. In `call` the first is outermost.
 * - The guards of the agent come after them: hooks, input filters, approval, budgets and the checks of schemas hold for what plugins give.
 * - A stage that decides and throws, or gives what it may not, ends the run with status `error`; `call` makes the call fail instead. Errors of `afterTurn`,
 *   `ending` and `close` are logged as `hookFailed`.
 * - An abort ends every wait for a stage.
 */
export interface PluginStages {
  /** Ends the run as `rejected` with `false` or `{ allow: false, reason }`. */
  beforeTurn?(turn: TurnHookInfo): HookVerdict
  /** Changes what is sent, never the history: once per turn, and again when an overflow has shortened it. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  request?(request: PluginRequest): RequestChanges | undefined | void | Promise<RequestChanges | undefined | void>
  /** Gives the words in place of those that came. Synchronous. Nobody sees the others: they are in no event, message or record. */
  delta?(delta: ResponseDelta): string
  /** Judges a response before it is in the history, also one with calls. What it replaces or refuses has no calls any more. */
  response?(response: AnswerHookInfo): AnswerVerdict | Promise<AnswerVerdict>
  /** Says whether a request that failed is sent again: at most three times a turn. Not asked about an abort. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case, also an async one
  requestFailed?(failed: FailedRequest): RequestRetry | undefined | void | Promise<RequestRetry | undefined | void>
  /** Runs around a tool. `run` calls it, or the next plugin, and rejects once the stage has returned. What is returned is the result of the call. */
  call?(call: PluginCall, run: () => Promise<ToolResult>): ToolResult | Promise<ToolResult>
  afterTurn?(turn: PluginTurn): HookDone
  /** Gives words that the model is to answer before the run may end. Synchronous: nothing that is queued meanwhile is lost. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a stage that returns nothing is the common case
  idle?(): string | undefined | void
  /** Is told how the run ends, right before `agentEnd`. Synchronous. */
  ending?(ending: RunEnding): void
  /** Lets go of what the plugin holds. An aborted run still waits a second for it. */
  close?(): HookDone
}

/** What a plugin is made of. */
export interface PluginDefinition {
  /** `[a-zA-Z0-9_-]{1,64}`. */
  name: string
  /** Default `agent`. */
  covers?: 'agent' | 'tree'
  /** Called when a run begins; what it makes belongs to that run. An error ends the run. Synchronous: a promise is an error. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a plugin that stays out of a run returns nothing
  begin(run: PluginRun): PluginStages | undefined | void
}

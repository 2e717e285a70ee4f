import type { ClientCallAnswer } from '../../../../src/client.ts'
import type { MessageInput } from '../../../../src/contract/message/message.ts'
import type { PatchOperation, SavedState } from '../../../../src/contract/session/shared-state.ts'
import type { InputAnswer, JsonObject, JsonValue, ReceiptStatus, UserMessage } from '../../../../src/index.ts'
import type { ScheduledPrompt } from '../../schedules/schedule-store.ts'
import type { KnownCalls } from '../commands/asked-calls.ts'
import type { ClientAsk } from '../commands/client-ask.ts'
import type { ClientCallRef, ClientResult } from '../commands/client-calls.ts'
import type { Decision } from '../commands/decide.ts'
import type { Unattended } from '../commands/unattended.ts'
import type { Place } from '../live-session-host.ts'

/** Fields of every command that starts a run: its idempotency key and start point. */
interface Beginning extends Place {
  key?: string | undefined
}

/** A command with a message and run options. */
interface PromptFields extends Beginning {
  messages: readonly MessageInput[]
  ask: ClientAsk
}

/** The commands that start a run. */
export interface BeginCommands {
  /** `forPerson`: the client shows a `busy` error to its user. */
  prompt: PromptFields & { forPerson?: boolean; unattended?: Unattended }
  /** Sends a message, regardless of the last message in the history. */
  send: PromptFields
  edit: PromptFields & { messageId: string }
  branch: PromptFields & { from: string; tag: string }
  continue: Beginning & { ask: ClientAsk }
  regenerate: Beginning & { ask: ClientAsk; messageId?: string | undefined }
  compact: Beginning & { focusMessage?: string | undefined }
}

/** A message with a client-assigned id. */
type OwnMessage = UserMessage & { id: string }

/** A message from a client that assigns ids. */
export interface PageTurn extends KnownCalls {
  message?: OwnMessage | undefined
  /** The message to edit, or the response to regenerate. */
  messageId?: string | undefined
  /** Whether to regenerate a response. */
  isAgain: boolean
  /** Independent decisions. The session skips decisions about settled calls. */
  decisions: readonly Decision[]
  results: readonly ClientResult[]
  ask: ClientAsk
  /** Idempotency key of the run. */
  key?: string | undefined
}

/** A message for an active run. */
interface Queueing {
  messages: readonly MessageInput[]
  /** Queues the message only for this loop's run. */
  loopId?: JsonValue | undefined
  key?: string | undefined
}

/** Session commands by type. All are plain JSON. */
export interface GatewayCommands extends BeginCommands {
  /**
   * A request from a client that assigns message ids. It settles calls, sends or edits a prompt, regenerates a response, or joins the
   * current run.
   */
  turn: PageTurn
  /**
   * Decisions and results for calls. The session skips calls that another client has already settled. It then sends `messages`, unless it
   * already contains them.
   */
  settle: {
    decisions: readonly Decision[]
    results: readonly ClientResult[]
    messages?: readonly OwnMessage[]
    unattended?: Unattended
  }
  steer: Queueing
  followUp: Queueing
  withdraw: { messageId: string }
  decide: Decision
  answerInput: { inputId: string; answer: InputAnswer }
  claimCall: ClientCallRef & { clientId: string }
  answerCall: ClientCallRef & { answer: ClientCallAnswer }
  stop: object
  rename: { title: string }
  changeState: StateChange
  /** Replaces shared state with the client's version. Does nothing if the version is unchanged or the session has no shared state. */
  takeState: { value: JsonObject; version?: number | undefined }
  import: { text: string; replace: boolean }
  delete: object
  schedule: Omit<ScheduledPrompt, 'id'> & { id?: string | undefined }
  unschedule: { id: string }
}

/** A change of shared state, applied once per key. */
export interface StateChange {
  change: { value: JsonObject } | { patch: readonly PatchOperation[] }
  ifVersion: number
  key?: string | undefined
}

/** The run that a command refers to. */
export interface AboutRun {
  loopId: string
  runId: string
}

/** The outcome of a client's request. */
export interface PageAnswer {
  /** The run to stream. Absent if the history is complete. */
  run?: AboutRun
  /** Whether the run had already started. */
  isJoined: boolean
  /** Settled calls. The client has all events before the first of these calls was resolved. */
  since?: readonly string[]
  /** The steering message after which the response begins. */
  replyTo?: string
}

/** Results of commands, by type. */
export interface GatewayResults extends Record<keyof BeginCommands, AboutRun> {
  turn: PageAnswer
  /** `since` has the same meaning as in `PageAnswer`. It is empty if the client has no events from the run. */
  settle: AboutRun & { since: readonly string[] }
  steer: QueuedMessage
  followUp: QueuedMessage
  withdraw: { wasWaiting: boolean }
  decide: AboutRun
  answerInput: AboutRun
  claimCall: { loopId: string; claimed: boolean }
  answerCall: AboutRun
  /** The run has stopped, or no run was active. */
  stop: object
  rename: object
  changeState: SavedState
  takeState: object
  import: object
  delete: { wasKnown: boolean }
  schedule: ScheduledPrompt
  unschedule: { wasThere: boolean }
}

/** A stored message for a run. */
interface QueuedMessage {
  loopId: string
  messageId: string
  status: ReceiptStatus
}

export type GatewayCommandType = keyof GatewayCommands

/** The command of this type. */
export type GatewayCommand<Type extends GatewayCommandType = GatewayCommandType> = {
  [Each in Type]: { type: Each } & GatewayCommands[Each]
}[Type]

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

/** What every command that begins a run may say: under which key it is to happen once, and from where. */
interface Beginning extends Place {
  key?: string | undefined
}

/** What is said, and what is asked of the run. */
interface Said extends Beginning {
  messages: readonly MessageInput[]
  ask: ClientAsk
}

/** The commands that begin a run and say what it is about. */
export interface BeginCommands {
  /** `forPerson`: the refusal of a busy session is for a person to read. */
  prompt: Said & { forPerson?: boolean; unattended?: Unattended }
  /** As a prompt, whatever the history ends with. */
  send: Said
  edit: Said & { messageId: string }
  branch: Said & { from: string; tag: string }
  continue: Beginning & { ask: ClientAsk }
  regenerate: Beginning & { ask: ClientAsk; messageId?: string | undefined }
  compact: Beginning & { focusMessage?: string | undefined }
}

/** What somebody says under an id of their own. */
type OwnMessage = UserMessage & { id: string }

/** What a page says that knows messages by ids of its own. */
export interface PageTurn extends KnownCalls {
  message?: OwnMessage | undefined
  /** What it is about: a message that is said anew, or the answer to make again. */
  messageId?: string | undefined
  /** An answer is to be made again. */
  isAgain: boolean
  /** What it says about calls: each stands alone, and what is settled already is passed over. */
  decisions: readonly Decision[]
  results: readonly ClientResult[]
  ask: ClientAsk
  /** Under which a run begins once. */
  key?: string | undefined
}

/** What is said to a run that is on. */
interface Queueing {
  messages: readonly MessageInput[]
  /** Only to the run of this loop. */
  loopId?: JsonValue | undefined
  key?: string | undefined
}

/** Commands of a session, by type. All are plain JSON. */
export interface GatewayCommands extends BeginCommands {
  /**
   * A request of a client that names messages by its own ids: settles calls, sends or edits a prompt, regenerates a response, or
   * joins the current run.
   */
  turn: PageTurn
  /**
   * Decisions and results of calls. Calls that another client has settled already are skipped. `messages` are sent afterwards,
   * unless the session has them already.
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
  /** Replaces shared state with the client's version. Does nothing if it is unchanged, or if the session shares none. */
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

/** The run that a command is about. */
export interface AboutRun {
  loopId: string
  runId: string
}

/** What a request of a page has come to. */
export interface PageAnswer {
  /** The run to stream. Absent where the history says all. */
  run?: AboutRun
  /** It has begun before. */
  isJoined: boolean
  /** Calls that the page has said something about: it has what the run said before the first of them was resolved. */
  since?: readonly string[]
  /** The message that the run hears in its middle: the answer begins after it. */
  replyTo?: string
}

/** What was done, by the type of the command. */
export interface GatewayResults extends Record<keyof BeginCommands, AboutRun> {
  turn: PageAnswer
  /** `since`: as in `PageAnswer`; empty where the client has nothing of the run. */
  settle: AboutRun & { since: readonly string[] }
  steer: QueuedMessage
  followUp: QueuedMessage
  withdraw: { wasWaiting: boolean }
  decide: AboutRun
  answerInput: AboutRun
  claimCall: { loopId: string; claimed: boolean }
  answerCall: AboutRun
  /** It has stopped, or nothing was on. */
  stop: object
  rename: object
  changeState: SavedState
  takeState: object
  import: object
  delete: { wasKnown: boolean }
  schedule: ScheduledPrompt
  unschedule: { wasThere: boolean }
}

/** Said to a run, and stored. */
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

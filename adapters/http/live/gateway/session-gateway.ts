import type { SavedState } from '../../../../src/contract/session/shared-state.ts'
import type { PendingApproval, PendingClientCall, PendingInput } from '../../../../src/index.ts'
import type { RecordedInput } from '../../../../src/internal.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import type { Caller } from '../../access/authorize.ts'
import type { ScheduledPrompt } from '../../schedules/schedule-store.ts'
import type { EventSource, MediaForm, RunPlace, RunSource } from '../../stream/event-source.ts'
import type { History, LoopPage, PageQuery } from '../read/history-page.ts'
import type { StartContext } from '../run-context.ts'
import type { GatewayCommand, GatewayCommandType, GatewayResults } from './gateway-command.ts'

/**
 * Interface between the routes and a session: commands, events and reads. The session may be in this process or another one.
 * `sessionGateway` creates a gateway for a `LiveSession`.
 *
 * **Contract**
 * - Commands, their results and the results of `read` are plain JSON, except for media bytes. A command rejects with a problem that routes
 *   send unchanged.
 * - Only commands change state, create an agent or resume an interrupted run.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface SessionGateway {
  readonly sessionId: string
  /** The owner of the session. */
  readonly caller: Caller
  /** `start` returns the `context` for a run that the command starts. */
  command<Type extends GatewayCommandType>(command: GatewayCommand<Type>, start?: StartContext): Promise<GatewayResults[Type]>
  /** Returns the events of one run from a cursor. Rejects with 404 if the run does not exist, 410 if its events were released. */
  events(place: RunPlace, media?: MediaForm): Promise<RunSource>
  /** Streams events, starting with the current run, or with a cursor in the given run. Continues with each later run. */
  follow(place: RunPlace | undefined, media?: MediaForm): Promise<EventSource>
  readonly read: SessionReads
}

/** Session reads that work in any process. */
export interface SessionReads {
  /** Returns whether the session has any messages. */
  isKnown(): Promise<boolean>
  /** The loop that runs in this process. */
  running(): Promise<string | undefined>
  /** Returns the stored session, or `undefined` if it has no messages. */
  session(): Promise<(Running & { session: Session }) | undefined>
  /** Returns a page of loops, or `undefined` if the session has no messages. Rejects with 400 `invalidCursor`. */
  loops(query: PageQuery): Promise<(Running & LoopPage) | undefined>
  /** Returns one loop from memory or the log, or `undefined` if it does not exist. */
  loop(loopId: string): Promise<LoopStanding | undefined>
  /** Returns messages of the session. Rejects with 404 for an unknown loop, 400 `invalidCursor`. */
  history(query: HistoryQuery): Promise<ReadHistory>
  /** Returns the pending approvals. */
  approvals(): Promise<PendingApproval[]>
  /** Returns the pending user input requests. */
  inputs(): Promise<PendingInput[]>
  /** Returns the pending client tool calls. */
  clientCalls(): Promise<PendingClientCall[]>
  /** Returns the status of a message that was queued for a run. */
  queued(messageId: string): Promise<RecordedInput | undefined>
  /** Returns the shared state. */
  state(): Promise<SavedState | undefined>
  schedules(): Promise<ScheduledPrompt[]>
  /** Returns the session's media with this hash, or `undefined` if not found. Rejects with 410 if the bytes are damaged. */
  media(hash: string): Promise<StoredMedia | undefined>
  /** Returns the stored log as text, even during a run. */
  exported(): Promise<string>
}

interface Running {
  /** The active loop. */
  runningLoopId?: string
}

/** Selects part of a history: a page, the messages after a given message, or all messages. */
export interface HistoryQuery {
  /** Last loop to include. Default: all loops. */
  loopId?: string | undefined
  /** Id of the last message that the client has. */
  after?: string | undefined
  page?: PageQuery
  media: MediaForm
}

/** The requested part of a history. */
export interface ReadHistory extends History, Running {
  /** Id of the message before this part. */
  after?: string
  /** For a page, whether there are earlier messages. */
  hasEarlier?: boolean
}

/** A loop with its pending calls. */
export interface LoopStanding {
  /** The recorded part, if any. */
  loop?: LoopRecord
  approvals: PendingApproval[]
  clientCalls: PendingClientCall[]
}

/** Bytes of media with their description. */
export interface StoredMedia {
  mimeType: string
  name?: string
  bytes: Uint8Array<ArrayBuffer>
}

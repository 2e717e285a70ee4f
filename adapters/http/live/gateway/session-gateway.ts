import type { SavedState } from '../../../../src/contract/session/shared-state.ts'
import type { PendingApproval, PendingClientCall, PendingInput } from '../../../../src/index.ts'
import type { RecordedInput } from '../../../../src/internal.ts'
import type { LoopRecord, Session } from '../../../../src/session.ts'
import type { Caller } from '../../access/authorize.ts'
import type { ScheduledPrompt } from '../../schedules/schedule-store.ts'
import type { EventSource, MediaForm, RunPlace, RunSource } from '../../stream/event-source.ts'
import type { History, LoopPage, PageQuery } from '../read/history-page.ts'
import type { GatewayCommand, GatewayCommandType, GatewayResults } from './gateway-command.ts'

/**
 * Where routes ask for a session: commands, events and reads, and nothing that lives. So the session may be wherever its host has it. `sessionGateway` makes one of
 * a `LiveSession`.
 *
 * **Contract**
 * - Commands and their answers are plain JSON, and so is what `read` answers, but for the bytes of media. What is refused rejects with a problem that routes
 *   answer as it is.
 * - Only a command changes something, makes an agent, or takes up a run that was cut off.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface SessionGateway {
  readonly sessionId: string
  /** Whose session it is. */
  readonly caller: Caller
  command<Type extends GatewayCommandType>(command: GatewayCommand<Type>): Promise<GatewayResults[Type]>
  /** The events of one run from a place on. Rejects with 404 where it never was, 410 where they are gone. */
  events(place: RunPlace, media?: MediaForm): Promise<RunSource>
  /** The events of the run that is on, or of this one from a place on, then those of each that begins. */
  follow(place: RunPlace | undefined, media?: MediaForm): Promise<EventSource>
  readonly read: SessionReads
}

/** What there is to read of a session, whoever has it. */
export interface SessionReads {
  /** Whether anything was ever said. */
  isKnown(): Promise<boolean>
  /** The loop that is on here. */
  running(): Promise<string | undefined>
  /** Everything that the store has; undefined where nothing was said. */
  session(): Promise<(Running & { session: Session }) | undefined>
  /** Undefined where nothing was said. Rejects with 400 `invalidCursor`. */
  loops(query: PageQuery): Promise<(Running & LoopPage) | undefined>
  /** One loop, here or in the log; undefined for none of the session. */
  loop(loopId: string): Promise<LoopStanding | undefined>
  /** Rejects with 404 for a loop that is none of the session, 400 `invalidCursor`. */
  history(query: HistoryQuery): Promise<ReadHistory>
  /** The calls that wait for a person. */
  approvals(): Promise<PendingApproval[]>
  /** What running calls ask. */
  inputs(): Promise<PendingInput[]>
  /** The calls that wait for a page. */
  clientCalls(): Promise<PendingClientCall[]>
  /** What became of a message that was said to a run while it was on. */
  queued(messageId: string): Promise<RecordedInput | undefined>
  /** What it shares with its pages. */
  state(): Promise<SavedState | undefined>
  schedules(): Promise<ScheduledPrompt[]>
  /** Media that the session has; undefined where it names no such bytes. Rejects with 410 where they are damaged. */
  media(hash: string): Promise<StoredMedia | undefined>
  /** The whole log as text, as far as it is stored: also while a run is on. */
  exported(): Promise<string>
}

interface Running {
  /** The loop that is on. */
  runningLoopId?: string
}

/** Which part of a history: a page of it, what comes after a message, or all of it. */
export interface HistoryQuery {
  /** Up to the end of this loop. Default: so far. */
  loopId?: string | undefined
  /** The message that is known. */
  after?: string | undefined
  page?: PageQuery
  media: MediaForm
}

/** What was asked for of a history. */
export interface ReadHistory extends History, Running {
  /** The message that it begins after. */
  after?: string
  /** Of a page: whether something was said before it. */
  hasEarlier?: boolean
}

/** A loop, and what waits in it. */
export interface LoopStanding {
  /** As the log has it, where it has it already. */
  loop?: LoopRecord
  approvals: PendingApproval[]
  clientCalls: PendingClientCall[]
}

/** Bytes, and what they are of. */
export interface StoredMedia {
  mimeType: string
  name?: string
  bytes: Uint8Array<ArrayBuffer>
}

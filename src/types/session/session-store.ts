import type { ContextState } from '../../contract/context/context-change.ts'
import type { SessionErrorCode } from '../../contract/errors.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { Session, SessionStatus, SpawnRef } from '../../contract/session/session.ts'
import type { LogDamage, SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import type { Journal, JournaledConversation } from './journal.ts'

/** What a store can promise where it runs. The shared suite tests what is declared. */
export interface StorePromises {
  /** Two writers at once: the older is `refused`, or both are kept as `forked` logs that a reader reports. */
  conflict: 'refused' | 'forked'
  /** Whether every reader sees a record as soon as it is acknowledged. */
  readAfterWrite: 'immediate' | 'eventual'
  /** Whether lists show a session as soon as its first record is acknowledged. */
  list: 'immediate' | 'eventual'
  /** What an acknowledged record survives: nothing, the end of the process or tab, or a power cut as well. */
  survives: 'nothing' | 'crash' | 'powerCut'
  /** Large media are kept beside the log. Absent: within it, as base64. */
  media?: 'beside'
}

/** What a writer knows of its session without looking at what is stored: lists show it. Source: docs/concepts/sessions.md */
export interface SessionDigest {
  /** Whose the session is, as its beginning says. */
  agentId?: string
  /** The user whose it is, in a store that several share. `scopedSessionStore` says it to nobody else, and not to its user, who knows it. */
  owner?: string
  /** When it began, epoch ms. */
  createdAt?: number
  /** Its name; where it has none, how the first message of a user begins. On one line, at most 100 characters. */
  title?: string
  loops: number
  /** Those that its loops have added to the history, tool results among them. */
  messages: number
  /** How its last loop stands. Absent where there is none, and in lists that an older version has written. */
  status?: SessionStatus
}

/** What lists tell about a session. Source: docs/concepts/sessions.md */
export interface SessionSummary extends SessionDigest {
  sessionId: string
  agentId: string
  /** Epoch ms. */
  createdAt: number
  /** Epoch ms. */
  lastActiveAt: number
  /** Why nothing else is known of it: this session cannot be read. Then `agentId` is empty, and counts and unknown times are 0. */
  error?: { code: SessionErrorCode; message: string }
}

/** Which sessions a list has. */
export interface SessionListOptions {
  /** Sessions of this agent alone. One that cannot be read is in no such list: nobody knows whose it is. */
  agentId?: string
  /** Sessions whose last loop stands so, and those of which an older version has not said it. */
  status?: SessionStatus
  /** Sessions whose id begins so. */
  idPrefix?: string
  /** How many there are on a page. Default 50. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
}

/** A part of a list, and where the next one begins. Source: docs/concepts/sessions.md */
export interface SessionPage {
  /** The most recently active first. */
  sessions: SessionSummary[]
  /** Where the next page begins; absent on the last one. */
  nextCursor?: string
}

/** What could be read of a damaged log. */
export interface SalvagedSession {
  /** The tree that the records amount to, with gaps where lines were dropped. */
  session: Session
  records: SessionRecord[]
  /** What could not be used, in the order in which it was stored. */
  dropped: DroppedLine[]
}

/** A line of a log that does not count. */
export interface DroppedLine {
  /** Its position in what was read, from 0; empty lines do not count. */
  line: number
  /** Of the record in it, where that can be read. */
  seq?: number
  /** Its length. */
  chars: number
  reason: string
}

/** The records of a session after a cursor. */
export interface SessionTail {
  records: SessionRecord[]
  /** Pass as `after` to get what comes next. */
  cursor: number
  damage?: LogDamage
}

/** What is read of a log. */
export interface SessionTailOptions {
  /** Only what comes after this record. Default 0: all of them. */
  after?: number
  /** How many at most, from the end. Default: no limit. */
  last?: number
  /** Called as often as a part of a long log was read. */
  onProgress?: () => void
}

/** An entry that is not yet in the log. */
export type NewSessionRecord = Pick<SessionRecord, 'loopId' | 'turnIndex'> & { entry: SessionEntry; at?: number }

/** A record of another log, as it is there. */
export type CopiedSessionRecord = Omit<SessionRecord, 'epoch' | 'seq'>

/** The right to write to one session. */
export interface SessionWriter {
  readonly sessionId: string
  readonly epoch: number
  /** What was there when this writer took over; see `after` of `open`. */
  readonly records: readonly SessionRecord[]
  readonly damage?: LogDamage
  /**
   * Adds records. Resolves when they are durable, in the order of the calls; several calls at once may share one write. Rejects with
   * `SessionError`: `conflict` once another writer has taken over, `quota` when there is no room, `invalidSession` for what is no JSON, `io`
   * otherwise. After a rejection nothing more is accepted.
   */
  append(records: readonly (NewSessionRecord | CopiedSessionRecord)[]): Promise<void>
  /**
   * Puts these records in place of all that is there, before anything is appended: all of them or none. They are written beside what is there, count
   * once the last of them is stored, and are read back; what was there is deleted only then. Rejects as `append`, and with `io` where other records
   * are read back; then what was there counts.
   */
  replace(records: readonly CopiedSessionRecord[]): Promise<void>
  /** Gives the right back. Records that were accepted are written first. */
  close(): Promise<void>
}

/** How a session is opened. */
export interface SessionOpenOptions {
  /** Whose session it is. */
  agentId: string
  /** The last record that the caller knows, by its `seq`. Default 0: none. */
  after?: number
  /** Called as often as a part of a long log was read. */
  onProgress?: () => void
  /** Other sessions of this store: bytes that a record names and this session has not got are copied from there. Default: none. */
  mediaFrom?: readonly string[]
}

/**
 * Keeps sessions as logs of records.
 *
 * **Contract**
 * - `open` makes its caller the only writer: from then on what an older writer appends is refused (where `promises.conflict` says so).
 *   It creates the session with its first record. With `after`, `records` are those after that one alone, and the others are not kept in memory;
 *   all of them where the log ends before it. It rejects with `blocked` when nothing was heard of the platform for 5 s; what opens later is
 *   closed again. `onProgress` is called as often as a part of a long log was read.
 * - `tail` reads without the right to write, also while somebody writes. With `last` it gives no more than so many records, those at the end, and reads little
 *   more where the platform lets it. Rejects with `notFound`.
 * - `load` is the tree that the records amount to. `save` makes the records of a tree, and replaces the session; what is no session it refuses
 *   with `invalidSession` and the path, before it opens anything.
 * - `list` gives summaries by page; `listIds` and `listForAgent` give all ids, the most recently active first. None of them rejects because one
 *   session cannot be read: `list` names it, with `error`. A session that is active while pages are read may be on two of them.
 * - `rename` gives a session a name, of 1 to 100 characters, as a record. It takes the session over from the agent that writes it.
 * - A log with records of a newer version rejects `open`, `save` and `rename` with `newerSchema`; what this version understands can be read.
 * - `salvage` reads every record that is whole, also those behind a damaged one, where `load` and `tail` end, and changes nothing. What it gives
 *   can be saved, best under another id. Rejects with `notFound`, and with `newerSchema` for what only a newer version can read.
 * - Media of more than 64 KiB of base64 are kept beside the log, each once, under the SHA-256 of their bytes: written before the record that names
 *   them, removed with the last that does. `tail`, and `records` of a writer, name them (`blob`) instead of holding them, so that a list, an open and
 *   a first page read none. `blob` reads one: it rejects with `notFound` where there is none, with `invalidSession` where what is kept is not what
 *   the hash says. `load` and `salvage` give messages with their bytes; what cannot be read stays a `blob`.
 * - Ids match `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`; another id rejects with `invalidId`.
 *
 * - `journal` gives what records an agent here. A store brings it along, so that an agent without one carries none of it; a store of your own
 *   takes `sessionJournal` of `phi-core/session`.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionStore {
  readonly promises: StorePromises
  open(sessionId: string, options: SessionOpenOptions): Promise<SessionWriter>
  tail(sessionId: string, options?: SessionTailOptions): Promise<SessionTail>
  blob(sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer>>
  journal(options?: SessionJournalOptions): SessionJournal
  load(sessionId: string): Promise<Session>
  salvage(sessionId: string): Promise<SalvagedSession>
  save(session: Session): Promise<void>
  rename(sessionId: string, title: string): Promise<void>
  list(options?: SessionListOptions): Promise<SessionPage>
  listIds(): Promise<string[]>
  listForAgent(agentId: string): Promise<string[]>
  /** Resolves with whether there was something to delete. */
  delete(sessionId: string): Promise<boolean>
}

/** Where a session that was read from a store goes on. */
export interface ResumePoint {
  sessionId: string
  /** The last `seq` that was read. */
  cursor: number
  /** Loop whose history this is. */
  loopId: string | undefined
  /** What the agent goes on with. */
  messages: readonly AgentMessage[]
  state: ContextState | undefined
  /** Answers that were made up for calls whose outcome nobody knows; among the last of `messages`. */
  recovered: readonly AgentMessage[]
}

/** A loop that is about to begin. */
export interface LoopPlace {
  sessionId: string
  agentId: string
  /** The loop it goes on from. */
  parentLoopId?: string
}

/** What a conversation has become while others wrote to its session. */
export type CaughtUp = Pick<AgentSnapshot, 'messages' | 'state' | 'loopCounts' | 'lastLoopId' | 'asked' | 'clientCalls' | 'sharedState'>

/** For whom a journal writes. */
export interface SessionJournalOptions {
  /** Who is named as the owner of sessions that begin. Default: nobody. */
  owner?: string
  /** The call that runs it, in a sub-agent's session. */
  spawnRef?: SpawnRef
  /** The session that goes on. Default: sessions begin with their first record. */
  resume?: ResumePoint
}

/**
 * Writes what loops make durable into the sessions they belong to.
 *
 * **Contract**
 * - Serves all agents of one session, forks and branches too: there is one writer. A rotated session id begins the next session; the writer of
 *   the one before is given back.
 * - `append` resolves when the record is durable, and rejects with `SessionError`. Records are written in the order of the calls; those appended
 *   at once, or while another write is on, share one write and are acknowledged together. What is refused takes with it what its loop has
 *   appended since.
 * - A `turnStart` waits for the next record, or for `close`, and is written with it: nothing rests on it alone. Do not await it before.
 * - The session is opened with `open`, else with the first record. One that exists already is refused with `conflict`, unless it was resumed.
 *   Nobody's right to write is taken for a conversation that cannot go on.
 * - A loop whose history is not that of its parent loop is recorded with the whole of it.
 * - Records that a store refused are written before the next loop that was opened with `open`: only what is missing. What it lost because somebody deleted
 *   the session is recorded with the next loop.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionJournal extends Journal {
  /**
   * Takes the right to write before a loop begins, where this journal has not got it, and writes what is missing of loops that were refused.
   * Resolves with what the conversation goes on from when others have written to the session since it was read: theirs, then what its owner has
   * added; `undefined` where it is as it was. When it rejects, the `loopStart` of the conversation is refused too.
   */
  open(place: LoopPlace, conversation: JournaledConversation): Promise<CaughtUp | undefined>
  media(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
  /** Writes what was appended and gives the right to write back; the next loop takes it again. */
  close(): Promise<void>
}

/** A record as a driver keeps it: one line of text that holds its own checksum. Drivers do not look into it. */
export interface LogLine {
  epoch: number
  seq: number
  text: string
  /** If a session is stored as a whole: its last `seq`. Until that line is there, none of them counts; then nothing older does. */
  whole?: number
}

/** A writer's claim, as a driver gave it. */
export interface LogClaim {
  sessionId: string
  epoch: number
  /** Everything that was there, damaged lines too, in the order of epoch, then of writing. */
  lines: readonly string[]
  /** What follows `lines`, read as it is asked for, once: of a long log the text is not in memory at once. A line may be there twice. */
  more?: AsyncIterable<readonly string[]>
}

/** Which sessions a driver is asked for. */
export interface LogQuery {
  agentId?: string
  status?: SessionStatus
  idPrefix?: string
  limit?: number
  /** Only what comes after this one in the order of the list, wherever it is by now. */
  after?: Pick<SessionSummary, 'sessionId' | 'lastActiveAt'>
}

/**
 * What a platform must do to keep sessions; `logSessionStore(driver)` makes a `SessionStore` of it.
 *
 * **Contract**
 * - `claim` begins the next epoch: first it makes older epochs unable to get an acknowledgement, then it reads what is there.
 * - `append` resolves only when the lines are durable and no newer epoch had begun by then. Lines come in the order of `seq`, from one call at a time.
 *   Rejects with `SessionError` `conflict`, `quota` or `io`. `digest` is what lists are to say once these lines are stored; it may be kept beside them, so
 *   that a list reads no log.
 * - `read` gives everything, or what comes after `after` where the driver can tell; `undefined` for an unknown session. `stream` gives the same
 *   in batches, which are read as they are asked for; a line may be in them twice.
 * - Whatever takes long calls `onProgress` now and then: `claim` counts as blocked when nothing was heard of it for 5 s.
 * - `lastSeq`, where it is there, is the `seq` of the last line of the newest epoch, and reads no more than that; a log of which only the end is asked for is
 *   then read from there. `undefined` where nobody knows.
 * - `list` gives the most recently active first. It may leave out what `query` does not ask for, and need not; where it keeps to `limit`, it gives so many as
 *   long as there are more. A session that cannot be read costs its own entry and no other: it is listed with `error`.
 * - `blobs` keeps bytes beside logs. A driver without it gets them in its lines, as base64: they are then as long as what is said.
 * - Ids were checked already.
 */
export interface LogDriver {
  /** `media` follows from `blobs`. */
  readonly promises: Omit<StorePromises, 'media'>
  claim(sessionId: string, agentId: string, onProgress?: () => void): Promise<LogClaim>
  append(claim: LogClaim, lines: readonly LogLine[], digest?: SessionDigest): Promise<void>
  /** Called when what older epochs wrote no longer counts, because a whole session was stored again: it may be deleted. */
  discardOlder?(claim: LogClaim): Promise<void>
  release(claim: LogClaim): Promise<void>
  read(sessionId: string, after: number, onProgress?: () => void): Promise<readonly string[] | undefined>
  stream?(sessionId: string, after: number): Promise<AsyncIterable<readonly string[]> | undefined>
  lastSeq?(sessionId: string): Promise<number | undefined>
  list(query?: LogQuery): Promise<SessionSummary[]>
  /** Bytes beside the log go with it. */
  delete(sessionId: string): Promise<boolean>
  readonly blobs?: BlobDriver
}

/**
 * What a platform must do to keep bytes beside the logs of sessions.
 *
 * **Contract**
 * - `put` resolves when `bytes` are durable under `hash`, and a reader finds all of them or none. They belong to the epoch of `claim`: what an
 *   older epoch has put under the same hash stays beside them until `discardOlder`, which removes all bytes of older epochs.
 * - `get` gives the newest of them; `undefined` where there are none.
 * - `keep` removes what older epochs have put, but for `hashes`: writers that ended before their record was stored leave such bytes. Nothing that
 *   `claim` itself has put, and nothing of a newer epoch. It is called once, after a first `append` of the claim was acknowledged.
 * - The bytes that `put` got, and those that `get` gave, are changed by nobody else from then on. Nobody looks into them;
 *   `hash` was checked, it is 64 characters of `0-9a-f`. Rejects with `SessionError` `conflict`, `quota` or `io`.
 */
export interface BlobDriver {
  put(claim: LogClaim, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  get(sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  keep(claim: LogClaim, hashes: ReadonlySet<string>): Promise<void>
}

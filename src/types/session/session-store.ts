import type { ContextState } from '../../contract/context/context-change.ts'
import type { SessionErrorCode } from '../../contract/errors.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { Session, SessionStatus, SpawnRef } from '../../contract/session/session.ts'
import type { LogDamage, SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import type { Journal, JournaledConversation } from './journal.ts'

/** Guarantees that a store declares. The shared test suite verifies each declared guarantee. */
export interface StorePromises {
  /**
   * Handling of concurrent writers. `refused`: the older writer fails. `forked`: the store retains both logs, and reads report the fork.
   */
  conflict: 'refused' | 'forked'
  /** Whether every reader sees a record as soon as it is acknowledged. */
  readAfterWrite: 'immediate' | 'eventual'
  /** Whether lists show a session as soon as its first record is acknowledged. */
  list: 'immediate' | 'eventual'
  /** Failures that an acknowledged record survives: none, a process or tab exit, or additionally a power loss. */
  survives: 'nothing' | 'crash' | 'powerCut'
  /** Stores large media next to the log. If absent, the log contains media as base64. */
  media?: 'beside'
}

/** Session summary, maintained by the session's writer so that lists need not read logs. Source: docs/concepts/sessions.md */
export interface SessionDigest {
  /** Id of the agent that created the session. */
  agentId?: string
  /** The session's owner in a shared store. `scopedSessionStore` omits this field. */
  owner?: string
  /** Epoch milliseconds. */
  createdAt?: number
  /** The session's name, or the beginning of the first user message. One line, at most 100 characters. */
  title?: string
  loops: number
  /** Number of messages in the history, including tool results. */
  messages: number
  /** Status of the last loop. Absent if the session has no loop, or if an older version wrote the summary. */
  status?: SessionStatus
}

/** One session in a list. Source: docs/concepts/sessions.md */
export interface SessionSummary extends SessionDigest {
  sessionId: string
  agentId: string
  /** Epoch milliseconds. */
  createdAt: number
  /** Epoch milliseconds. */
  lastActiveAt: number
  /** Reason why the session cannot be read. If set, `agentId` is empty, and counts and unknown times are 0. */
  error?: { code: SessionErrorCode; message: string }
}

/** Filters and paging of a session list. */
export interface SessionListOptions {
  /** Lists only this agent's sessions. Excludes unreadable sessions, because their agent is unknown. */
  agentId?: string
  /** Lists only sessions whose last loop has this status, and sessions without a recorded status. */
  status?: SessionStatus
  /** Lists only sessions whose id starts with this prefix. */
  idPrefix?: string
  /** Maximum sessions per page. Default: 50. */
  limit?: number
  /** `nextCursor` of the previous page. */
  cursor?: string
}

/** One page of a session list. Source: docs/concepts/sessions.md */
export interface SessionPage {
  /** Sessions, most recently active first. */
  sessions: SessionSummary[]
  /** Cursor for the next page. Absent on the last page. */
  nextCursor?: string
}

/** The readable part of a damaged log, and its unusable lines. */
export interface SalvagedSession {
  /** Session rebuilt from the intact records. */
  session: Session
  records: SessionRecord[]
  /** Unusable lines, in storage order. */
  dropped: DroppedLine[]
}

/** An unusable line of a log. */
export interface DroppedLine {
  /** Zero-based line index, not counting empty lines. */
  line: number
  /** `seq` of the line's record, if readable. */
  seq?: number
  /** Length in characters. */
  chars: number
  reason: string
}

/** A session's records after a cursor. */
export interface SessionTail {
  records: SessionRecord[]
  /** Cursor to pass as `after` for the next records. */
  cursor: number
  damage?: LogDamage
}

/** Selects the records to read from a log. */
export interface SessionTailOptions {
  /** Reads only records after this `seq`. Default: 0, which reads all records. */
  after?: number
  /** Maximum number of records, counted from the end. Default: no limit. */
  last?: number
  /** Called after each chunk of a long log. */
  onProgress?: () => void
}

/** An entry that is not yet in the log. */
export type NewSessionRecord = Pick<SessionRecord, 'loopId' | 'turnIndex'> & { entry: SessionEntry; at?: number }

/** A record copied from another log. */
export type CopiedSessionRecord = Omit<SessionRecord, 'epoch' | 'seq'>

/** Exclusive write access to one session. */
export interface SessionWriter {
  readonly sessionId: string
  readonly epoch: number
  /** The session's records at the time of the takeover. See the `after` option of `open`. */
  readonly records: readonly SessionRecord[]
  readonly damage?: LogDamage
  /**
   * Appends records in call order and resolves when they are durable. Concurrent calls may share one write. Rejects with `SessionError`:
   * `conflict` after a takeover, `quota` if storage is full, `invalidSession` for invalid JSON, `io` otherwise. After a rejection, the
   * writer rejects all further records.
   */
  append(records: readonly (NewSessionRecord | CopiedSessionRecord)[]): Promise<void>
  /**
   * Atomically replaces all records. Call it before the first `append`. Writes and verifies the new records, then deletes the old ones.
   * Rejects as `append` does, and with `io` if verification fails. On failure, the old records remain.
   */
  replace(records: readonly CopiedSessionRecord[]): Promise<void>
  /** Writes accepted records, then releases write access. */
  close(): Promise<void>
}

/** Options for opening a session. */
export interface SessionOpenOptions {
  /** Id of the agent that owns the session. */
  agentId: string
  /** `seq` of the last record that the caller has. Default: 0, none. */
  after?: number
  /** Called after each part of a long log. */
  onProgress?: () => void
  /** Sessions of this store from which to copy missing media bytes. Default: none. */
  mediaFrom?: readonly string[]
}

/**
 * Stores sessions as logs of records.
 *
 * **Contract**
 * - `open` makes the caller the only writer. If `promises.conflict` is `refused`, the store rejects older writers' appends. The first
 *   record creates the session. With `after`, `records` contains only later records, or all records if the log ends before `after`. Rejects
 *   with `blocked` if the platform does not respond for 5 s. A handle that opens later is closed.
 * - `tail` reads without write access, even while another process writes. With `last`, returns at most that many records from the end,
 *   without reading the whole log if the platform allows. Rejects with `notFound`.
 * - `load` rebuilds the session tree from its records. `save` writes a tree as records and replaces the session. For an invalid tree,
 *   `save` rejects with `invalidSession` and the path before it opens the session.
 * - `list` returns pages of summaries. `listIds` and `listForAgent` return all ids. Both sort by most recent activity. An unreadable
 *   session does not reject `list`, but appears with `error`. A session that becomes active during paging may appear twice.
 * - `rename` records a name of 1 to 100 characters, and takes over the session from its current writer.
 * - `open`, `save` and `rename` reject with `newerSchema` if a newer version wrote records. Reads skip unknown records.
 * - `salvage` reads every intact record and does not change the log. Unlike `load` and `tail`, it continues after a damaged record. Save
 *   the result under another id. Rejects with `notFound`, and with `newerSchema` if only a newer version can read the log.
 * - Media over 64 KiB of base64 are stored once next to the log, under the SHA-256 of their bytes. The store writes media before the record
 *   that references them, and keeps them until the last reference is removed. `tail` and `records` return references (`blob`) without
 *   reading bytes. `blob` reads the bytes, and rejects with `notFound` if they are missing or `invalidSession` if the hash differs. `load`
 *   and `salvage` inline the bytes. Unreadable media remain a `blob`.
 * - Ids match `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`. Other ids reject with `invalidId`.
 * - `journal` creates the journal that records an agent in this store. In a custom store, implement `journal` with `sessionJournal` of
 *   `phi-core/session`.
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
  /** Deletes a session. Resolves with whether the session existed. */
  delete(sessionId: string): Promise<boolean>
}

/** Point from which a stored session resumes. */
export interface ResumePoint {
  sessionId: string
  /** `seq` of the last record read. */
  cursor: number
  /** Id of the last loop in this history. */
  loopId: string | undefined
  /** History to resume with. */
  messages: readonly AgentMessage[]
  state: ContextState | undefined
  /** Error results for calls whose outcome is unknown. `messages` also ends with these results. */
  recovered: readonly AgentMessage[]
}

/** A loop that is about to start. */
export interface LoopPlace {
  sessionId: string
  agentId: string
  /** Id of the loop that the new loop continues. */
  parentLoopId?: string
}

/** State of a conversation after another process wrote to its session. */
export type CaughtUp = Pick<AgentSnapshot, 'messages' | 'state' | 'loopCounts' | 'lastLoopId' | 'asked' | 'clientCalls' | 'sharedState'>

/** Options for a session journal. */
export interface SessionJournalOptions {
  /** Owner recorded in new sessions. Default: none. */
  owner?: string
  /** Tool call whose sub-agent this session records. */
  spawnRef?: SpawnRef
  /** Session to resume. Default: none, so the first record creates a session. */
  resume?: ResumePoint
}

/**
 * Records the loops of an agent in its sessions.
 *
 * **Contract**
 * - One writer records all agents in a session, including forks and branches. A new session id starts the next session and releases the
 *   previous writer.
 * - `append` resolves when the record is durable, and rejects with `SessionError`. Records are written in call order. Concurrent appends
 *   share one write and settle together. After a rejection, later appends for the same loop also reject.
 * - A `turnStart` is written with the next record, or on `close`. Do not await a `turnStart` before making the next append.
 * - `open` or the first record opens the session. Opening an existing session without resuming it rejects with `conflict`, before taking
 *   write access.
 * - If a loop's history differs from its parent loop's, the journal records the whole history.
 * - The next `open` writes records that the store had rejected, without duplicates. If the session was deleted, the next loop writes the
 *   lost records.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionJournal extends Journal {
  /**
   * Acquires write access before a loop starts, if needed, and writes records that the store had rejected. If other processes wrote to the
   * session, resolves with the conversation to continue: first the messages from other processes, then this agent's. Otherwise resolves
   * with `undefined`. After a rejection, the `loopStart` append rejects too.
   */
  open(place: LoopPlace, conversation: JournaledConversation): Promise<CaughtUp | undefined>
  media(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
  /** Writes pending records and releases write access. The next loop acquires write access again. */
  close(): Promise<void>
}

/** One stored record: a line with a checksum. Drivers do not parse lines. */
export interface LogLine {
  epoch: number
  seq: number
  text: string
  /**
   * For a session that is replaced as a whole: `seq` of the last new line. Readers ignore the new lines until that line is stored, and
   * older lines afterwards.
   */
  whole?: number
}

/** Write access that a driver grants for one epoch. */
export interface LogClaim {
  sessionId: string
  epoch: number
  /** All lines, including damaged ones, ordered by epoch, then by write. */
  lines: readonly string[]
  /** Lines after `lines`, read on demand and only once, so that a long log is never fully in memory. A line may appear twice. */
  more?: AsyncIterable<readonly string[]>
}

/** Selects the sessions that a driver lists. */
export interface LogQuery {
  agentId?: string
  status?: SessionStatus
  idPrefix?: string
  limit?: number
  /** Lists only sessions after this one in list order, even if this session has moved. */
  after?: Pick<SessionSummary, 'sessionId' | 'lastActiveAt'>
}

/**
 * The platform-specific part of a session store. `logSessionStore(driver)` creates a `SessionStore` from a driver.
 *
 * **Contract**
 * - `claim` starts the next epoch: it first fences off older epochs, then reads the lines.
 * - `append` resolves only if the lines are durable and no newer epoch has started. Lines arrive in `seq` order, one call at a time.
 *   Rejects with `SessionError` `conflict`, `quota` or `io`. `digest` is the updated list entry. Store it separately, so that lists need
 *   not read logs.
 * - `read` returns all lines, or only those after `after` if the driver supports it. It returns `undefined` for an unknown session.
 *   `stream` returns the same lines in batches, read on demand. A line may appear twice.
 * - Long operations call `onProgress` regularly: `claim` counts as blocked after 5 s without a call.
 * - `lastSeq` is optional. It returns the `seq` of the newest epoch's last line without reading other lines, or `undefined` if unknown.
 *   Reads of the last records then start near the end.
 * - `list` sorts by most recent activity. Applying `query` is optional, but a driver that applies `limit` must return that many sessions if
 *   there are more. An unreadable session is listed with `error`.
 * - `blobs` stores bytes next to logs. Without it, lines contain the bytes as base64.
 * - Ids are already validated.
 */
export interface LogDriver {
  /** The driver's guarantees. The store derives `media` from `blobs`. */
  readonly promises: Omit<StorePromises, 'media'>
  claim(sessionId: string, agentId: string, onProgress?: () => void): Promise<LogClaim>
  append(claim: LogClaim, lines: readonly LogLine[], digest?: SessionDigest): Promise<void>
  /** Called after a whole session was replaced. The driver may delete the lines of older epochs. */
  discardOlder?(claim: LogClaim): Promise<void>
  release(claim: LogClaim): Promise<void>
  read(sessionId: string, after: number, onProgress?: () => void): Promise<readonly string[] | undefined>
  stream?(sessionId: string, after: number): Promise<AsyncIterable<readonly string[]> | undefined>
  lastSeq?(sessionId: string): Promise<number | undefined>
  list(query?: LogQuery): Promise<SessionSummary[]>
  /** Deletes a session and its blobs. */
  delete(sessionId: string): Promise<boolean>
  readonly blobs?: BlobDriver
}

/**
 * Platform-specific storage for media bytes next to session logs.
 *
 * **Contract**
 * - `put` resolves when `bytes` are durable under `hash`. Readers never see partial bytes. The bytes belong to the epoch of `claim`. Bytes
 *   that an older epoch stored under the same hash remain until `discardOlder` removes all older bytes.
 * - `get` returns the newest bytes, or `undefined`.
 * - `keep` deletes bytes of older epochs whose hash is not in `hashes`: their writer ended before it stored the record. `keep` deletes no
 *   bytes of this or a newer epoch. Called once per claim, after the first acknowledged `append`.
 * - Byte arrays are immutable once passed or returned. `hash` is validated: 64 characters of `0-9a-f`.
 * - Rejects with `SessionError` `conflict`, `quota` or `io`.
 */
export interface BlobDriver {
  put(claim: LogClaim, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  get(sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  keep(claim: LogClaim, hashes: ReadonlySet<string>): Promise<void>
}

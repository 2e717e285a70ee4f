import type { ContextState } from '../../contract/context/context-change.ts'
import type { SessionErrorCode } from '../../contract/errors.ts'
import type { FileContent, ImageContent } from '../../contract/message/content.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { Session, SessionStatus, SpawnRef } from '../../contract/session/session.ts'
import type { LogDamage, SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import type { Journal, JournaledConversation } from './journal.ts'

/** Guarantees of a store. The shared suite tests those that are declared. */
export interface StorePromises {
  /** Two concurrent writers: the older is `refused`, or both logs are kept as `forked` and reported to readers. */
  conflict: 'refused' | 'forked'
  /** Whether every reader sees a record as soon as it is acknowledged. */
  readAfterWrite: 'immediate' | 'eventual'
  /** Whether lists show a session as soon as its first record is acknowledged. */
  list: 'immediate' | 'eventual'
  /** Failures that an acknowledged record survives: none, the end of the process or tab, or also a power cut. */
  survives: 'nothing' | 'crash' | 'powerCut'
  /** Large media are stored next to the log. Absent: inside it, as base64. */
  media?: 'beside'
}

/** Summary of a session that its writer maintains for lists, so that they read no logs. Source: docs/concepts/sessions.md */
export interface SessionDigest {
  /** Id of the agent that created the session. */
  agentId?: string
  /** Owner of the session in a shared store. `scopedSessionStore` removes this field from its results. */
  owner?: string
  /** Epoch milliseconds. */
  createdAt?: number
  /** Name of the session, or the start of the first user message. One line, at most 100 characters. */
  title?: string
  loops: number
  /** Number of messages in the history, including tool results. */
  messages: number
  /** Status of the last loop. Absent without a loop, and for lists written by older versions. */
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
  /** Why the session cannot be read. `agentId` is then empty, and counts and unknown times are 0. */
  error?: { code: SessionErrorCode; message: string }
}

/** Filters and paging of a session list. */
export interface SessionListOptions {
  /** Only sessions of this agent. Unreadable sessions are left out, because their agent is unknown. */
  agentId?: string
  /** Only sessions whose last loop has this status, and sessions whose status an older version did not record. */
  status?: SessionStatus
  /** Only sessions whose id starts with this prefix. */
  idPrefix?: string
  /** Sessions per page. Default: 50. */
  limit?: number
  /** `nextCursor` of the previous page. */
  cursor?: string
}

/** One page of a session list. Source: docs/concepts/sessions.md */
export interface SessionPage {
  /** Most recently active first. */
  sessions: SessionSummary[]
  /** Cursor of the next page; absent on the last page. */
  nextCursor?: string
}

/** Readable part of a damaged log. */
export interface SalvagedSession {
  /** Session rebuilt from the records, without dropped ones. */
  session: Session
  records: SessionRecord[]
  /** Unusable lines, in storage order. */
  dropped: DroppedLine[]
}

/** An unusable line of a log. */
export interface DroppedLine {
  /** Zero-based position, without empty lines. */
  line: number
  /** `seq` of its record, if readable. */
  seq?: number
  /** Length in characters. */
  chars: number
  reason: string
}

/** Records of a session after a cursor. */
export interface SessionTail {
  records: SessionRecord[]
  /** Pass as `after` to read the next records. */
  cursor: number
  damage?: LogDamage
}

/** Selects the records to read from a log. */
export interface SessionTailOptions {
  /** Only records after this `seq`. Default: 0, all of them. */
  after?: number
  /** Maximum number of records, counted from the end. Default: no limit. */
  last?: number
  /** Called after each part of a long log. */
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
  /** Records at the time of the takeover; see `after` of `open`. */
  readonly records: readonly SessionRecord[]
  readonly damage?: LogDamage
  /**
   * Appends records. Resolves when they are durable, in call order; concurrent calls may share one write. Rejects with `SessionError`:
   * `conflict` after a takeover, `quota` if storage is full, `invalidSession` for invalid JSON, `io` otherwise. After a rejection the
   * writer accepts nothing more.
   */
  append(records: readonly (NewSessionRecord | CopiedSessionRecord)[]): Promise<void>
  /**
   * Replaces all records before the first `append`, atomically. New records are written next to the old, read back, and count once the last
   * one is stored; then the old are deleted. Rejects as `append`, and with `io` if the records read back differ; the old records then stay.
   */
  replace(records: readonly CopiedSessionRecord[]): Promise<void>
  /** Releases write access, after accepted records are written. */
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
  /** Other sessions of this store to copy missing media bytes from. Default: none. */
  mediaFrom?: readonly string[]
}

/**
 * Stores sessions as logs of records.
 *
 * **Contract**
 * - `open` makes the caller the only writer: the store then rejects appends of older writers (if `promises.conflict` is `refused`). The
 *   first record creates the session. With `after`, `records` are only those after it, or all if the log ends earlier. Rejects with
 *   `blocked` if the platform does not respond for 5 s; a late handle is closed. `onProgress` is called after each part of a long log.
 * - `tail` reads without write access, also during writes. With `last`, it returns at most that many records from the end, and reads little
 *   more if the platform allows. Rejects with `notFound`.
 * - `load` rebuilds the session tree from its records. `save` writes a tree as records and replaces the session. It rejects an invalid
 *   session with `invalidSession` and the path, before opening anything.
 * - `list` returns pages of summaries; `listIds` and `listForAgent` return all ids. Most recently active first. An unreadable session never
 *   rejects a list: `list` includes it with `error`. A session that is active during paging may appear twice.
 * - `rename` sets a name of 1 to 100 characters, as a record. It takes the session over from its current writer.
 * - `open`, `save` and `rename` reject a log with records of a newer version with `newerSchema`. Reading skips what this version does not
 *   know.
 * - `salvage` reads every intact record, including those after a damaged one, where `load` and `tail` stop. It changes nothing. Save its
 *   result under another id. Rejects with `notFound`, and with `newerSchema` if only a newer version can read the log.
 * - Media over 64 KiB of base64 are stored once next to the log, under the SHA-256 of their bytes. They are stored before the record that
 *   references them, until the last reference is removed. `tail` and `records` reference them (`blob`) without reading bytes. `blob` reads
 *   one: it rejects with `notFound` if it is missing, with `invalidSession` if the hash differs. `load` and `salvage` inline the bytes;
 *   unreadable media stay a `blob`.
 * - Ids match `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`; other ids reject with `invalidId`.
 * - `journal` creates the journal that records an agent in this store. A custom store uses `sessionJournal` of `phi-core/session`.
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
  /** Resolves with whether the session existed. */
  delete(sessionId: string): Promise<boolean>
}

/** Point from which a stored session resumes. */
export interface ResumePoint {
  sessionId: string
  /** `seq` of the last record read. */
  cursor: number
  /** Loop of this history. */
  loopId: string | undefined
  /** History to resume with. */
  messages: readonly AgentMessage[]
  state: ContextState | undefined
  /** Tool results created for calls whose outcome is unknown; among the last of `messages`. */
  recovered: readonly AgentMessage[]
}

/** A loop that is about to start. */
export interface LoopPlace {
  sessionId: string
  agentId: string
  /** Loop that it continues. */
  parentLoopId?: string
}

/** State of a conversation after other processes wrote to its session. */
export type CaughtUp = Pick<AgentSnapshot, 'messages' | 'state' | 'loopCounts' | 'lastLoopId' | 'asked' | 'clientCalls' | 'sharedState'>

/** Options of a session journal. */
export interface SessionJournalOptions {
  /** Owner recorded in new sessions. Default: none. */
  owner?: string
  /** Tool call that runs the sub-agent of this session. */
  spawnRef?: SpawnRef
  /** Session to resume. Default: the first record creates a session. */
  resume?: ResumePoint
}

/**
 * Records the loops of an agent in its sessions.
 *
 * **Contract**
 * - Serves all agents of one session, including forks and branches, with one writer. A rotated session id starts the next session and
 *   releases the previous writer.
 * - `append` resolves when the record is durable, and rejects with `SessionError`. Records are written in call order; concurrent ones share
 *   one write and are acknowledged together. A rejection also rejects later appends of the same loop.
 * - A `turnStart` is written with the next record, or on `close`. Do not await it before.
 * - The session is opened by `open`, or by the first record. An existing session rejects with `conflict` unless it is resumed, so a
 *   conversation that cannot continue takes no write access.
 * - A loop whose history differs from its parent loop is recorded with its whole history.
 * - Records that the store rejected are written before the next loop opened with `open`, without duplicates. Records lost because the
 *   session was deleted are written with the next loop.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionJournal extends Journal {
  /**
   * Acquires write access before a loop starts, if needed, and writes missing records of rejected loops. Resolves with the conversation to
   * continue if other processes wrote to the session: their messages, then those of its owner; `undefined` if nothing changed. If it
   * rejects, the `loopStart` of the conversation rejects too.
   */
  open(place: LoopPlace, conversation: JournaledConversation): Promise<CaughtUp | undefined>
  media(sessionId: string, block: ImageContent | FileContent): Promise<ImageContent | FileContent>
  /** Writes pending records and releases write access; the next loop acquires it again. */
  close(): Promise<void>
}

/** A record as a driver stores it: one line of text with its own checksum. Drivers do not parse it. */
export interface LogLine {
  epoch: number
  seq: number
  text: string
  /** Last `seq` of a session stored as a whole. Until that line is stored, none of its lines count; afterwards no older line counts. */
  whole?: number
}

/** Write access of one epoch, as a driver grants it. */
export interface LogClaim {
  sessionId: string
  epoch: number
  /** All lines, including damaged ones, ordered by epoch, then by write. */
  lines: readonly string[]
  /** Lines after `lines`, read on demand, once, so that a long log is never in memory at once. A line may appear twice. */
  more?: AsyncIterable<readonly string[]>
}

/** Selects the sessions of a driver's list. */
export interface LogQuery {
  agentId?: string
  status?: SessionStatus
  idPrefix?: string
  limit?: number
  /** Only sessions after this one in list order, even if it has moved. */
  after?: Pick<SessionSummary, 'sessionId' | 'lastActiveAt'>
}

/**
 * Platform part of a session store; `logSessionStore(driver)` makes a `SessionStore` of it.
 *
 * **Contract**
 * - `claim` starts the next epoch: first it fences older epochs off, then it reads the lines.
 * - `append` resolves only if the lines are durable and no newer epoch had started by then. Lines come in `seq` order, one call at a time.
 *   Rejects with `SessionError` `conflict`, `quota` or `io`. `digest` is the list entry after these lines; store it separately, so that
 *   lists read no logs.
 * - `read` returns all lines, or those after `after` if the driver can tell; `undefined` for an unknown session. `stream` returns the same
 *   in batches, read on demand; a line may appear twice.
 * - Long operations call `onProgress` regularly: `claim` counts as blocked after 5 s without a call.
 * - `lastSeq` is optional. It returns the `seq` of the newest epoch's last line and reads no more; reads from the end of a log then start
 *   there. `undefined` if unknown.
 * - `list` returns the most recently active first. Applying `query` is optional; a driver that applies `limit` returns that many while
 *   there are more. An unreadable session is listed with `error` and does not affect the others.
 * - `blobs` stores bytes next to logs. Without it, lines contain the bytes as base64.
 * - Ids are already validated.
 */
export interface LogDriver {
  /** `media` is derived from `blobs`. */
  readonly promises: Omit<StorePromises, 'media'>
  claim(sessionId: string, agentId: string, onProgress?: () => void): Promise<LogClaim>
  append(claim: LogClaim, lines: readonly LogLine[], digest?: SessionDigest): Promise<void>
  /** Called when lines of older epochs no longer count, after a whole session was stored again. The driver may delete them. */
  discardOlder?(claim: LogClaim): Promise<void>
  release(claim: LogClaim): Promise<void>
  read(sessionId: string, after: number, onProgress?: () => void): Promise<readonly string[] | undefined>
  stream?(sessionId: string, after: number): Promise<AsyncIterable<readonly string[]> | undefined>
  lastSeq?(sessionId: string): Promise<number | undefined>
  list(query?: LogQuery): Promise<SessionSummary[]>
  /** Also deletes the blobs of the session. */
  delete(sessionId: string): Promise<boolean>
  readonly blobs?: BlobDriver
}

/**
 * Platform part that stores media bytes next to the logs of sessions.
 *
 * **Contract**
 * - `put` resolves when `bytes` are durable under `hash`; readers find all of them or none. They belong to the epoch of `claim`. Bytes of
 *   an older epoch under the same hash stay until `discardOlder`, which removes all bytes of older epochs.
 * - `get` returns the newest bytes, or `undefined`.
 * - `keep` removes bytes of older epochs except `hashes`, left by writers that ended before their record was stored. It removes nothing of
 *   `claim` itself or of newer epochs. Called once, after the first acknowledged `append` of the claim.
 * - Byte arrays are immutable once passed or returned. `hash` is validated: 64 characters of `0-9a-f`.
 * - Rejects with `SessionError` `conflict`, `quota` or `io`.
 */
export interface BlobDriver {
  put(claim: LogClaim, hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>
  get(sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer> | undefined>
  keep(claim: LogClaim, hashes: ReadonlySet<string>): Promise<void>
}

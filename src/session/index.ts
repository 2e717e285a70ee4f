/**
 * Stored conversations: logs of records, what a store on a platform is made of, the memory store, and messages as JSON text.
 *
 * @example
 * ```ts
 * const saved = serializeMessages(agent.messages)
 * const restored = new Agent({ model, messages: parseMessages(saved) })
 * ```
 */

export { JournalError, SessionError, type SessionErrorCode } from '../contract/errors.ts'
export { parseMessages, serializeMessages } from '../contract/message/history.ts'
export type { NodeTag, TagKind } from '../contract/message/identity.ts'
export type { StoredBytes } from '../contract/message/media.ts'
export type { JournalEntry } from '../contract/session/journal-entry.ts'
export { checkSession, parseSession } from '../contract/session/read-session.ts'
export type {
  BegunCall,
  ChildLoopRef,
  LoopEvent,
  LoopRecord,
  LoopStatus,
  ParallelGroupRecord,
  Session,
  SessionFormation,
  SessionScope,
  SessionStatus,
  SpawnRef,
  Turn,
} from '../contract/session/session.ts'
export type { LogDamage, SessionEntry, SessionRecord, UnknownEntry } from '../contract/session/session-record.ts'
export { type AgentSnapshot, parseSnapshot } from '../contract/session/snapshot.ts'
export type { Journal, JournaledConversation, JournalRecord } from '../types/session/journal.ts'
export type {
  BlobDriver,
  CaughtUp,
  CopiedSessionRecord,
  DroppedLine,
  LogClaim,
  LogDriver,
  LogLine,
  LogQuery,
  LoopPlace,
  NewSessionRecord,
  ResumePoint,
  SalvagedSession,
  SessionDigest,
  SessionJournal,
  SessionJournalOptions,
  SessionListOptions,
  SessionOpenOptions,
  SessionPage,
  SessionSummary,
  SessionTail,
  SessionTailOptions,
  SessionWriter,
  StorePromises,
} from '../types/session/session-store.ts'
export { sessionJournal } from './journal/session-journal.ts'
export { type TaskHooks, withTaskHooks } from './journal/task-hooks.ts'
export { type EventKeeping, type EventStore, withEvents } from './journal/with-events.ts'
export { assertSessionId, logSessionStore } from './log/log-session-store.ts'
export { memoryDriver } from './log/memory-store.ts'
export { openInTime } from './log/open-in-time.ts'
export {
  deleteAllSessions,
  exportAllSessions,
  type PruneOptions,
  pruneSessions,
  type RetentionOptions,
  type RetentionReport,
} from './log/retention.ts'
export { salvageSession } from './log/salvage.ts'
export { scopedSessionStore } from './log/scoped-session-store.ts'
export { exportSession, exportSessionLines, type ImportSessionOptions, importSession } from './log/transfer.ts'
export { messagesWithBytes } from './media/kept-media.ts'
export { childrenOf, getLoop, loopChainTo, parallelSiblings, rootLoops, totalUsage } from './views/navigation.ts'
export { queuedInputs, type RecordedInput, type RecordedState, sharedStatesOf } from './views/recorded.ts'
export { type ReplayOptions, replayEvents } from './views/replay-events.ts'
export { recordsOf, sessionOf } from './views/session-tree.ts'
export { type ResumableSnapshot, snapshotOf, type UnfinishedCalls } from './views/snapshot-of.ts'

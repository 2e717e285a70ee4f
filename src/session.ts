/**
 * Stores conversations: session logs, building blocks for custom stores, the memory store, message serialization and shared state.
 *
 * @example
 * ```ts
 * const saved = serializeMessages(agent.messages)
 * const restored = new Agent({ model, messages: parseMessages(saved) })
 * ```
 */

export { JournalError, SessionError, type SessionErrorCode } from './contract/errors.ts'
export { parseMessages, serializeMessages } from './contract/message/history.ts'
export type { StoredBytes } from './contract/message/media.ts'
export type { JournalEntry } from './contract/session/journal-entry.ts'
export { checkSession, parseSession } from './contract/session/read-session.ts'
export type { LoopEvent, LoopRecord, LoopStatus, Session, SessionStatus, Turn } from './contract/session/session.ts'
export type { LogDamage, SessionEntry, SessionRecord } from './contract/session/session-record.ts'
export type { PatchStep, StateChange } from './contract/session/shared-state.ts'
export { type AgentSnapshot, parseSnapshot } from './contract/session/snapshot.ts'
export { sessionJournal } from './session/journal/session-journal.ts'
export { type TaskHooks, withTaskHooks } from './session/journal/task-hooks.ts'
export { type EventStore, withEvents } from './session/journal/with-events.ts'
export { assertSessionId, logSessionStore } from './session/log/log-session-store.ts'
export { memoryDriver } from './session/log/memory-store.ts'
export { openWithTimeout } from './session/log/open-with-timeout.ts'
export { deleteAllSessions, exportAllSessions, pruneSessions } from './session/log/retention.ts'
export { salvageSession } from './session/log/salvage.ts'
export { scopedSessionStore } from './session/log/scoped-session-store.ts'
export { exportSession, exportSessionLines, importSession } from './session/log/transfer.ts'
export { messagesWithBytes } from './session/media/kept-media.ts'
export { childrenOf, getLoop, loopChainTo, parallelSiblings, rootLoops, totalUsage } from './session/views/navigation.ts'
export { queuedInputs, sharedStatesOf } from './session/views/recorded.ts'
export { replayEvents } from './session/views/replay-events.ts'
export { recordsOf, sessionOf } from './session/views/session-tree.ts'
export { snapshotOf } from './session/views/snapshot-of.ts'
export { type SharedStateOptions, sharedState } from './shared-state/shared-state.ts'
export type { Journal, JournaledConversation, JournalRecord } from './types/session/journal.ts'
export type {
  BlobDriver,
  LogClaim,
  LogDriver,
  LogLine,
  LogQuery,
  LoopPlace,
  SessionDigest,
  SessionJournal,
  SessionJournalOptions,
  SessionPage,
  SessionSummary,
  SessionTail,
  SessionWriter,
  StorePromises,
} from './types/session/session-store.ts'
export type { SessionState, SharedState } from './types/session/shared-state.ts'

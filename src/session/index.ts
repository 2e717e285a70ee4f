/**
 * Stored conversations: logs of records, what a store on a platform is made of, the memory store, and messages as JSON text.
 *
 * @example
 * ```ts
 * const saved = serializeMessages(agent.messages)
 * const restored = new Agent({ model, messages: parseMessages(saved) })
 * ```
 */

export { parseMessages, serializeMessages } from '../contract/message/history.ts'
export { checkSession, parseSession } from '../contract/session/read-session.ts'
export { parseSnapshot } from '../contract/session/snapshot.ts'
export type {
  CaughtUp,
  DroppedLine,
  LogClaim,
  LogDriver,
  LogLine,
  LogQuery,
  LoopPlace,
  ResumePoint,
  SalvagedSession,
  SessionDigest,
  SessionListOptions,
  SessionPage,
  SessionSummary,
} from '../types/session/session-store.ts'
export { sessionJournal } from './journal/session-journal.ts'
export { type TaskHooks, withTaskHooks } from './journal/task-hooks.ts'
export { type EventKeeping, withEvents } from './journal/with-events.ts'
export { digestOfLines } from './log/digest.ts'
export { assertSessionId, logSessionStore } from './log/log-session-store.ts'
export { memoryDriver, memorySessionStore } from './log/memory-store.ts'
export { openInTime } from './log/open-in-time.ts'
export { salvageSession } from './log/salvage.ts'
export { scopedSessionStore } from './log/scoped-session-store.ts'
export { pageOf } from './log/session-list.ts'
export { exportSession, type ImportSessionOptions, importSession } from './log/transfer.ts'
export { childrenOf, getLoop, loopChainTo, parallelSiblings, rootLoops, totalUsage } from './views/navigation.ts'
export { type ReplayOptions, replayEvents } from './views/replay-events.ts'
export { recordsOf, sessionOf } from './views/session-tree.ts'
export { type ResumableSnapshot, snapshotOf, type UnfinishedCalls } from './views/snapshot-of.ts'

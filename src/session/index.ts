/**
 * Stored conversations: logs of records, what a store on a platform is made of, the memory store, and messages as JSON text.
 *
 * @example
 * ```ts
 * const saved = serializeMessages(agent.messages)
 * const restored = new Agent({ model, messages: parseMessages(saved) })
 * ```
 */

export type { LogClaim, LogDriver, LogLine, SessionSummary } from '../types/session-store.ts'
export { LiveRecording } from './live-recording.ts'
export { logSessionStore } from './log-session-store.ts'
export { type LedgerStatus, toLedgerStatus } from './loop-status.ts'
export { memoryDriver } from './memory-driver.ts'
export { memorySessionStore } from './memory-session-store.ts'
export { parseMessages, serializeMessages } from './message-json.ts'
export { childrenOf, getLoop, loopChainTo, parallelSiblings, rootLoops, totalUsage } from './navigation.ts'
export type { ResumePoint } from './recorded-session.ts'
export { SessionRecorder, type SessionRecorderOptions } from './recorder.ts'
export { recordsOf } from './records-of.ts'
export { assertSessionId } from './session-id.ts'
export { sessionOf } from './session-of.ts'
export { parseSnapshot } from './snapshot.ts'
export { type ResumableSnapshot, snapshotOf, type UnfinishedCalls } from './snapshot-of.ts'

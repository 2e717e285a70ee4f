export { bearer, type LiveAgentOptions, onLoopback } from '../http/index.ts'
export { createWorker, type WorkerOptions } from './create-worker.ts'
export type { KvKeyPage, KvNamespace } from './session/kv/kv-namespace.ts'
export { type KvSessionStoreOptions, kvSessionStore } from './session/kv/kv-session-store.ts'
export { LiveSessionObject } from './session/live/live-session-object.ts'
export {
  type ForwardOptions,
  forwardToSession,
  type ObjectLiveSessionsOptions,
  objectLiveSessions,
} from './session/live/object-live-sessions.ts'
export { durableObjectSessionStore, type SessionBindings } from './session/object/durable-object-session-store.ts'
export { IndexObject } from './session/object/index-object.ts'
export type { ObjectAddress } from './session/object/session-address.ts'
export { SessionObject } from './session/object/session-object.ts'
export type { ObjectNamespace, ObjectState, ObjectStorage, ObjectStub, SqlCursor, SqlValue } from './session/workers-platform.ts'

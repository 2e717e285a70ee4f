export { RemoteError, type RemoteErrorCode, type RemoteErrorOptions } from './remote-error.ts'
export type { ReconnectOptions, RemoteSessionOptions } from './remote-options.ts'
export { type RemoteSession, remoteSession } from './remote-session.ts'
export type { QueuedReceipt } from './run/outbox.ts'

export { RemoteError, type RemoteErrorCode } from './remote-error.ts'
export type { ReconnectOptions, RemoteSessionOptions } from './remote-options.ts'
export { type RemoteSession, remoteSession } from './remote-session.ts'

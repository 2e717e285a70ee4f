/**
 * Connects a browser client to a session on a server: the agent interface over HTTP, client tools, and the native wire format.
 *
 * @example
 * ```ts
 * const session = remoteSession({ url: 'https://example.com', sessionId: 'chat-1' })
 * await session.load()
 * ```
 *
 * @module
 */

export { RemoteError, type RemoteErrorCode } from './client/remote-error.ts'
export type { ReconnectOptions, RemoteSessionOptions } from './client/remote-options.ts'
export { type RemoteSession, remoteSession } from './client/remote-session.ts'
export type { RemoteSharedState } from './client/remote-shared-state.ts'
export type { QueuedReceipt } from './client/run/outbox.ts'
export type { ClientCallContext, ClientTools } from './client/tools/client-tools.ts'
export { runClientTools } from './client/tools/page-tools.ts'
export type { ChatAgent, ChatOptions } from './types/run/chat-agent.ts'
export type { ClientCallAnswer } from './types/run/question.ts'
export { type EventDecoder, eventDecoder } from './ui/native/event-decoder.ts'
export { type EventEncoder, eventEncoder } from './ui/native/event-encoder.ts'

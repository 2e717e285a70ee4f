import type { AgentMessage } from '../contract/message/message.ts'
import type { ChatAgent } from '../types/run/chat-agent.ts'
import type { ApprovalRef, ApproveOptions, ClientCallAnswer } from '../types/run/question.ts'
import type { ToolTypesByName } from '../types/tool/typed-tool.ts'
import { LiveRemoteSession } from './live-remote-session.ts'
import { checkRemoteOptions, type RemoteSessionOptions } from './remote-options.ts'
import type { RemoteSharedState } from './remote-shared-state.ts'
import type { QueuedReceipt } from './run/outbox.ts'
import type { AnyTools, ClientTools } from './tools/client-tools.ts'

/** Selects which part of a session to load. */
export interface LoadOptions {
  /** Loads the history up to the end of this loop. Default: the whole history. */
  loopId?: string
  /** Maximum number of messages to load, from the end: 1 to 200. Default: all. */
  limit?: number
}

/** A session on a server with the interface of a local agent. See `remoteSession`. */
export interface RemoteSession extends ChatAgent {
  /**
   * Loads the conversation and the active run, and updates `messages`, `pendingApprovals()`, `queued` and `currentRun`. Also reconnects
   * after the client gave up on a connection.
   *
   * With `loopId`, goes back to the end of that loop. The next run continues from that point, and becomes a branch if the session has later
   * loops. The server stores nothing until that run.
   *
   * Rejects with `RemoteError`: `notFound` for an unknown loop, `busy` during a run.
   */
  load(options?: LoadOptions): Promise<readonly AgentMessage[]>
  /** Whether the session has messages before `messages`, because `load({ limit })` loads only the last ones. */
  readonly hasEarlier: boolean
  /**
   * Loads up to `limit` earlier messages (1 to 200, default 50) and inserts them before `messages`. Resolves with the loaded messages.
   * Empty if there are no more. Rejects with `RemoteError` `invalidCursor` if the conversation has switched to another branch.
   */
  loadEarlier(options?: { limit?: number }): Promise<readonly AgentMessage[]>
  /** Messages queued for the active run, in order: this client's messages and those that `load` found. */
  readonly queued: readonly QueuedReceipt[]
  /**
   * Approves a pending call, with the arguments in `options` if set. If the call's run ended `paused`, continues the run. The server
   * records the approver, so `by` is rejected. Rejects with `RemoteError`:
   *
   * - `notFound` if the call is not pending, or `argumentsChanged` if it is pending with other arguments.
   * - `invalidBody` if the new arguments do not match the schema. The call then stays pending.
   * - if the server is unreachable.
   */
  approve(request: ApprovalRef, options?: ApproveOptions): Promise<void>
  /** Denies a pending call. Otherwise works like `approve`. */
  deny(request: ApprovalRef | string, reason?: string): Promise<void>
  /**
   * Claims a call for the client `clientId`, as `run.claimCall` does. Also works after the run ended `paused`. Rejects with `RemoteError`.
   */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /**
   * Submits a client tool call's result, even after its run ended `paused`. Resolves when the result is recorded. Rejects with
   * `RemoteError`.
   */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /**
   * Runs pending and later client tool calls in this client. Returns a function that stops running them. Each call is claimed first, so
   * that only one client runs it. Tools with a description and parameters are declared with each prompt. The server must allow their names.
   * `Tools` contains the tool types: `InferTools<typeof agent>`.
   */
  tools<Tools extends ToolTypesByName = AnyTools>(handlers: ClientTools<Tools>): () => void
  /** The session's shared state. */
  readonly sharedState: RemoteSharedState
  /** Sets the session's title. Rejects with `RemoteError`. */
  rename(title: string): Promise<void>
  /** Closes the connection. Runs continue on the server, but end in this client with the code `closed`. */
  close(): void
}

/**
 * Creates a client for a session served by `createAgentApp`, with the interface of a local agent.
 *
 * **Contract**
 * - Connects on first use. During a run, or while there are subscribers, the client keeps one connection open, and reconnects with backoff
 *   from the last event.
 * - Each event is delivered once and in order, even after reconnecting. Requests that start a run have an idempotency key, so that retries
 *   start only one run.
 * - `subscribe` also receives runs that other clients start.
 * - If the server rejects a run, the run ends with `agentEnd`, status `error` and the error code, and returns its messages.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * const session = remoteSession({ url: 'https://agents.example', sessionId: 'chat-1', headers: async () => ({ authorization: `Bearer ${await token()}` }) })
 * await session.load()
 * console.log(await session.prompt('Will it rain in Oslo?').text())
 * ```
 */
export function remoteSession(options: RemoteSessionOptions): RemoteSession {
  checkRemoteOptions(options)
  return new LiveRemoteSession(options)
}

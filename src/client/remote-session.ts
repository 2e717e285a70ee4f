import type { AgentMessage } from '../contract/message/message.ts'
import type { ChatAgent } from '../types/run/chat-agent.ts'
import type { ApprovalRef, ClientCallAnswer } from '../types/run/question.ts'
import type { ToolTypesByName } from '../types/tool/typed-tool.ts'
import { LiveRemoteSession } from './live-remote-session.ts'
import { checkRemoteOptions, type RemoteSessionOptions } from './remote-options.ts'
import type { RemoteSharedState } from './remote-shared-state.ts'
import type { QueuedReceipt } from './run/outbox.ts'
import type { AnyTools, ClientTools } from './tools/client-tools.ts'

/** The part of a session to load. */
export interface LoadOptions {
  /** Up to the end of this loop. Default: all. */
  loopId?: string
  /** Number of last messages: 1 to 200. Default: all. */
  limit?: number
}

/** A session on a server with the interface of a local agent. See `remoteSession`. */
export interface RemoteSession extends ChatAgent {
  /**
   * Loads the conversation and the active run: afterwards `messages`, `pendingApprovals()`, `queued` and `currentRun` are
   * current. Also reconnects after a connection was given up.
   *
   * With `loopId` it goes back to the end of that loop. The next run continues there, and becomes a branch if the session has later loops.
   * The server stores nothing until then.
   *
   * Rejects with `RemoteError`: `notFound` for an unknown loop, `busy` during a run.
   */
  load(options?: LoadOptions): Promise<readonly AgentMessage[]>
  /** Whether there are messages before `messages`: `load({ limit })` loads only the last ones. */
  readonly hasEarlier: boolean
  /**
   * Loads up to `limit` earlier messages (1 to 200, default 50) and puts them before `messages`. Resolves with these; empty if
   * there are no more. Rejects with `RemoteError` `invalidCursor` if the conversation has moved to another branch.
   */
  loadEarlier(options?: { limit?: number }): Promise<readonly AgentMessage[]>
  /** Messages that are queued for the active run, in order: those of this client and those that `load` found. */
  readonly queued: readonly QueuedReceipt[]
  /**
   * Approves a pending call with the shown arguments. Also works for a call of a run that ended `paused`: the run is continued.
   * Rejects with `RemoteError` `notFound` if the call is not pending, `argumentsChanged`, and if the server is unreachable.
   */
  approve(request: ApprovalRef): Promise<void>
  /** Denies a pending call; otherwise as `approve`. */
  deny(request: ApprovalRef | string, reason?: string): Promise<void>
  /**
   * Claims a call for the client `clientId`, as `run.claimCall` does, also of a run that ended `paused`. Rejects with
   * `RemoteError`.
   */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /**
   * Submits the result of a client tool call, also of a run that ended `paused`. Resolves once it is recorded; rejects with
   * `RemoteError`.
   */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /**
   * Runs pending and later client tool calls here; returns how to stop. Each call is claimed first, so that one client runs it. A
   * tool with description and parameters is sent with each prompt, for a server that allows its name. `Tools` has the types of
   * the tools: `InferTools<typeof agent>`.
   */
  tools<Tools extends ToolTypesByName = AnyTools>(handlers: ClientTools<Tools>): () => void
  /** The state that the session shares with its clients. */
  readonly sharedState: RemoteSharedState
  /** Sets the title of the session. Rejects with `RemoteError`. */
  rename(title: string): Promise<void>
  /** Closes the connection. Runs continue on the server; here they end with the code `closed`. */
  close(): void
}

/**
 * Creates a client of a session behind `createAgentApp`, with the interface of a local agent.
 *
 * **Contract**
 * - Connects on first use. During a run, or while something is subscribed, it holds one connection, and reconnects with backoff
 *   from the last event.
 * - Delivers each event once and in order, also over reconnects. A request that starts a run has an idempotency key, so that
 *   retries start one run.
 * - `subscribe` also receives runs that other clients start.
 * - A run that the server refuses ends with `agentEnd`, status `error` and the code of the refusal, and returns its messages.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
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

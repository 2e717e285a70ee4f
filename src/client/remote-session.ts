import type { AgentMessage } from '../contract/message/message.ts'
import type { ChatAgent } from '../types/run/chat-agent.ts'
import type { ApprovalRef, ClientCallAnswer } from '../types/run/question.ts'
import type { ToolTypesByName } from '../types/tool/typed-tool.ts'
import { LiveRemoteSession } from './live-remote-session.ts'
import { checkRemoteOptions, type RemoteSessionOptions } from './remote-options.ts'
import type { RemoteSharedState } from './remote-shared-state.ts'
import type { QueuedReceipt } from './run/outbox.ts'
import type { AnyTools, ClientTools } from './tools/client-tools.ts'

/** How much of a session is read, and up to where. */
export interface LoadOptions {
  /** Up to the end of this loop. Default: all. */
  loopId?: string
  /** Only the last messages: 1 to 200. Default: all. */
  limit?: number
}

/** A session on a server, with the surface of a local agent. See `remoteSession`. */
export interface RemoteSession extends ChatAgent {
  /**
   * Reads what was said so far, and the run that is on: `messages`, `pendingApprovals()`, `queued` and `currentRun` know it then. Also after a connection
   * was given up. With `loopId` it goes back to the end of that loop: what begins a run next goes on from there, and is a branch where the session had
   * gone on. Until then the server remembers nothing of it. Rejects with `RemoteError`: `notFound` for a loop that is none of the session, `busy` where a
   * run is on.
   */
  load(options?: LoadOptions): Promise<readonly AgentMessage[]>
  /** Whether more was said before `messages`: `load({ limit })` reads the last ones only. */
  readonly hasEarlier: boolean
  /**
   * Reads what was said before `messages`, and puts it there: as many messages as `limit` says (1 to 200), by default 50. Resolves with these, the empty list where there are
   * no more. Rejects with `RemoteError`: `invalidCursor` where the conversation has gone another way meanwhile.
   */
  loadEarlier(options?: { limit?: number }): Promise<readonly AgentMessage[]>
  /** What waits to be said in the run that is on, in order: what was queued here, and what `load` found. */
  readonly queued: readonly QueuedReceipt[]
  /**
   * Lets the call run that was shown, also one that a run has left when it ended `paused`: it is continued. Rejects with `RemoteError` `notFound` where no
   * such call waits, `argumentsChanged`, and when the server cannot be reached.
   */
  approve(request: ApprovalRef): Promise<void>
  /** Refuses a call that waits; otherwise as `approve`. */
  deny(request: ApprovalRef | string, reason?: string): Promise<void>
  /** Says that the client `clientId` runs this call, as `run.claimCall` does, also of one that a run has left. Rejects with `RemoteError`. */
  claimCall(request: ApprovalRef, clientId: string): Promise<boolean>
  /** Says what came of a call that a page was to run, also of one that a run has left. Resolves once that is recorded; rejects with `RemoteError`. */
  answerCall(request: ApprovalRef, answer: ClientCallAnswer, clientId?: string): Promise<void>
  /**
   * Runs calls in this page, from now on and those that wait; returns how to stop. Each is claimed first, so that one page runs it. A tool with description and
   * parameters is offered with each prompt, to a server that allows its name. `Tools` has the types of the tools: `InferTools<typeof agent>`.
   */
  tools<Tools extends ToolTypesByName = AnyTools>(handlers: ClientTools<Tools>): () => void
  /** What the session shares with its pages. */
  readonly sharedState: RemoteSharedState
  /** Names the session. Rejects with `RemoteError`. */
  rename(title: string): Promise<void>
  /** Lets the connection go. Runs go on on the server; here they end with the code `closed`. */
  close(): void
}

/**
 * A session that lives behind `createAgentApp`, as if its agent were here.
 *
 * **Contract**
 * - Nothing is connected until something is asked of it. While a run is on here, or somebody subscribes, there is one connection; it is taken up again with
 *   backoff, from the last event.
 * - Each event is seen once, in order, whatever happens on the way. A request that begins a run is sent with a key, so that the run begins once, however
 *   often it has to be sent.
 * - `subscribe` also hears runs that other clients begin.
 * - A run that the server refuses ends with `agentEnd`, status `error` and the code of the refusal, and gives its messages back.
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

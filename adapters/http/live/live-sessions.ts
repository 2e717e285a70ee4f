import { type Shape, withMethods } from '../../../src/contract/shape/shape.ts'
import type { SessionPage } from '../../../src/session.ts'
import type { SessionListOptions } from '../../../src/types/session/session-store.ts'
import type { Caller, SessionAddress } from '../access/authorize.ts'
import type { BodyLimits } from '../access/body.ts'
import type { SessionGateway } from './gateway/session-gateway.ts'
import type { ContextRequest, RunContext } from './run-context.ts'

/**
 * Handles a request for one session with its gateway. For sessions in this process, `sessionGateway` creates the gateway. Paths are `/`,
 * `/runs`, `/stop` and so on.
 */
export type SessionRoutes = (request: Request, gateway: SessionGateway) => Promise<Response>

/**
 * Session host for `createAgentApp`. `memoryLiveSessions` runs sessions in this process. `objectLiveSessions` from `phi-core/cloudflare`
 * runs each session in a Durable Object.
 *
 * **Contract**
 * - `fetch` handles a request for one session. It calls `routes` if the session is in this process. Otherwise, it forwards the request to
 *   the session's process, which has the same routes.
 * - Callers can never access other callers' sessions, regardless of the ids they send.
 * - The app calls `answerWith`, if present, once before any request. A host that serves requests from other processes also uses the routes
 *   passed to it, and reads bodies within the limits of `body`.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface LiveSessions {
  fetch(address: SessionAddress, request: Request, routes: SessionRoutes): Promise<Response>
  list(caller: Caller, page: ListPage): Promise<SessionPage>
  answerWith?(routes: SessionRoutes, body: BodyLimits): void
  /**
   * Called by an app that creates contexts: once, or before each request if `sessions` is a function. The host calls the latest `make` for
   * runs without a request.
   */
  contextFrom?(make: (start: ContextRequest) => Promise<RunContext>): void
  /**
   * Lists all callers' sessions with their `owner`, most recently active first, for operators. Absent if the host cannot list sessions.
   */
  listAll?(page: ListPage): Promise<SessionPage>
  /**
   * Resolves with whether this process accepts requests. Default: true. The promise may reject or settle late, so callers set a timeout.
   */
  isReady?(): Promise<boolean>
  /** Returns this process's metrics, if the host provides any. */
  figures?(): SessionFigures
}

/** Validation shape for an option that takes live sessions. */
export const liveSessions: Shape = withMethods('live sessions, such as from memoryLiveSessions({ store, agent })', 'fetch', 'list')

/** A page of a list. */
export type ListPage = Pick<SessionListOptions, 'cursor' | 'status'> & { limit: number }

/** Metrics for this process. */
export interface SessionFigures {
  /** Sessions in memory. */
  sessions: number
  /** Active runs. */
  runs: number
  /** Pending calls. */
  waiting: number
  /** Queued messages. */
  queued: number
}

/** Request headers to allow for other origins. None of these headers authenticates a request. */
export const requestHeaders = ['content-type', 'idempotency-key', 'last-event-id', 'x-vercel-ai-ui-message-stream', 'user-agent'] as const

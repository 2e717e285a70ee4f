import { type Shape, withMethods } from '../../../src/contract/shape/shape.ts'
import type { SessionPage } from '../../../src/session.ts'
import type { SessionListOptions } from '../../../src/types/session/session-store.ts'
import type { Caller, SessionAddress } from '../access/authorize.ts'
import type { BodyLimits } from '../access/body.ts'
import type { SessionGateway } from './gateway/session-gateway.ts'

/**
 * Handles a request for one session with its gateway: that of `sessionGateway` if it lives here. The path is one of `/`, `/runs`,
 * `/stop` and so on.
 */
export type SessionRoutes = (request: Request, gateway: SessionGateway) => Promise<Response>

/**
 * The host of sessions that `createAgentApp` uses. `memoryLiveSessions` keeps them in this process, `objectLiveSessions` of
 * `phi-core/cloudflare` in one Durable Object each.
 *
 * **Contract**
 * - `fetch` handles a request for one session: with `routes` if the session lives in this process, elsewhere with the same routes
 *   there.
 * - Callers never reach sessions of other callers, whatever ids they send.
 * - `answerWith`, if present, is called once by the app, before any request. A host that serves requests of other processes uses
 *   these routes too, and reads bodies up to the limits of `body`.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface LiveSessions {
  fetch(address: SessionAddress, request: Request, routes: SessionRoutes): Promise<Response>
  list(caller: Caller, page: ListPage): Promise<SessionPage>
  answerWith?(routes: SessionRoutes, body: BodyLimits): void
  /**
   * Lists the sessions of all callers, each with its `owner`, the most recently active first. For operators. Absent if the host
   * cannot list them.
   */
  listAll?(page: ListPage): Promise<SessionPage>
  /** Whether this process accepts requests. Default: yes. May reject, and may be slow: callers set their own timeout. */
  isReady?(): Promise<boolean>
  /** Returns figures of this process, if the host has any. */
  figures?(): SessionFigures
}

/** Shape of an option for live sessions. */
export const liveSessions: Shape = withMethods('live sessions as memoryLiveSessions({ store, agent }) gives them', 'fetch', 'list')

/** A page of a list. */
export type ListPage = Pick<SessionListOptions, 'cursor' | 'status'> & { limit: number }

/** Figures of this process. */
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

/** Request headers for other origins. None of them authenticates. */
export const requestHeaders = ['content-type', 'idempotency-key', 'last-event-id', 'x-vercel-ai-ui-message-stream', 'user-agent'] as const

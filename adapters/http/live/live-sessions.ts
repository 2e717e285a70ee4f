import { type Shape, withMethods } from '../../../src/contract/shape/shape.ts'
import type { SessionPage } from '../../../src/session.ts'
import type { SessionListOptions } from '../../../src/types/session/session-store.ts'
import type { Caller, SessionAddress } from '../access/authorize.ts'
import type { BodyLimits } from '../access/body.ts'
import type { SessionGateway } from './gateway/session-gateway.ts'

/** Answers a request for one session at its gateway: that of `sessionGateway` where it lives here. Its path is one of `/`, `/runs`, `/stop` and so on. */
export type SessionRoutes = (request: Request, gateway: SessionGateway) => Promise<Response>

/**
 * Where sessions live: what `createAgentApp` asks of its host. `memoryLiveSessions` keeps them in this process, `objectLiveSessions` of
 * `phi-core/cloudflare` in one Durable Object each.
 *
 * **Contract**
 * - `fetch` answers a request for one session: with `routes` where the session lives in this process, elsewhere with the same routes there.
 * - Sessions of one caller are out of reach of every other, whatever ids they ask for.
 * - `answerWith`, where it is there, is called once by the app that is made with it, before any request: a host that is asked by other processes answers them
 *   with these routes too, and reads no longer body than `body` allows.
 *
 * Source: docs/guides/serve-over-http.md
 */
export interface LiveSessions {
  fetch(address: SessionAddress, request: Request, routes: SessionRoutes): Promise<Response>
  list(caller: Caller, page: ListPage): Promise<SessionPage>
  answerWith?(routes: SessionRoutes, body: BodyLimits): void
  /** Those of everybody, each with its `owner`, the most recently active first: for an operator. Absent where that cannot be told. */
  listAll?(page: ListPage): Promise<SessionPage>
  /** Whether requests may be sent to this process. Default: yes. It may reject, and take its time: who asks waits no longer than he wants to. */
  isReady?(): Promise<boolean>
  /** What goes on in this process, where that can be told. */
  figures?(): SessionFigures
}

/** What an option that takes live sessions is told to be. */
export const liveSessions: Shape = withMethods('live sessions as memoryLiveSessions({ store, agent }) gives them', 'fetch', 'list')

/** Which part of a list. */
export type ListPage = Pick<SessionListOptions, 'cursor' | 'status'> & { limit: number }

/** What goes on in this process. */
export interface SessionFigures {
  /** Sessions in memory. */
  sessions: number
  /** Runs that are on. */
  runs: number
  /** Calls that wait for a person. */
  waiting: number
  /** Messages that wait to be heard by a run. */
  queued: number
}

/** Headers that pages of other origins may send. None of them lets anybody in. */
export const requestHeaders = ['content-type', 'idempotency-key', 'last-event-id', 'x-vercel-ai-ui-message-stream', 'user-agent'] as const

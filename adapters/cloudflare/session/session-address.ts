import { assertSessionId } from '../../../src/session/index.ts'
import type { ObjectNamespace } from './durable-object.ts'
import { callHeader } from './object-call.ts'

/** Which session an object is. */
export interface SessionAddress {
  tenant: string
  sessionId: string
}

/** Whose sessions they are where nobody says. */
export const defaultTenant = 'default'

const addressHeader = 'x-phi-core-session'

/** The name of a session's object. Session ids have no slash, so names of two tenants never clash. */
export function objectName({ tenant, sessionId }: SessionAddress): string {
  return `${tenant}/${sessionId}`
}

/** Which object a request of a client is for. */
export interface ForwardOptions {
  /** Binding of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  sessionId: string
  /** As for `durableObjectSessionStore`. Default `default`. */
  tenant?: string
  /** What is asked of the session: `/`, `/runs`, `/runs/…/events`, `/stop`. The query of the request is kept. */
  path: string
}

/**
 * Passes the request of a client on to the live session that it is about (see `LiveSessionObject`). Check first who the client is: `tenant`
 * and `sessionId` are all that decides what it reads and whose tokens it spends. Throws `SessionError` `invalidId`.
 */
export async function forwardToSession(request: Request, options: ForwardOptions): Promise<Response> {
  const { sessions, sessionId, tenant = defaultTenant, path } = options
  assertSessionId(sessionId)
  const url = new URL(path, 'https://session')
  url.search = new URL(request.url).search
  // Over what the client may have sent under these names: it must not pass for the store.
  const headers = new Headers(request.headers)
  headers.set(callHeader, 'live')
  headers.set(addressHeader, `${encodeURIComponent(tenant)}/${sessionId}`)
  return sessions.getByName(objectName({ tenant, sessionId })).fetch(new Request(new Request(url, request), { headers }))
}

/** Who `forwardToSession` says that the object is; undefined for a request that did not come by way of it. */
export function readAddress({ headers }: Request): SessionAddress | undefined {
  const [tenant, sessionId] = headers.get(addressHeader)?.split('/') ?? []
  if (headers.get(callHeader) !== 'live' || tenant === undefined || sessionId === undefined) return undefined
  return { tenant: decodeURIComponent(tenant), sessionId }
}

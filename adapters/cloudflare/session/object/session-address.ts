import { callHeader } from './object-call.ts'

/** The session of an object. */
export interface ObjectAddress {
  tenant: string
  sessionId: string
}

/** Default tenant. */
export const defaultTenant = 'default'

/** Returns the default tenant of a caller. */
export function tenantOf(identity: string | undefined): string {
  return identity === undefined ? defaultTenant : `user:${identity}`
}

/** Returns the identity of a tenant; a custom tenant is returned as it is. */
export function identityOf(tenant: string): string | undefined {
  if (tenant === defaultTenant) return undefined
  return tenant.startsWith('user:') ? tenant.slice('user:'.length) : tenant
}

const addressHeader = 'x-phi-core-session'
const deadlineHeader = 'x-phi-core-deadline'

/** Returns the name of a session's object. Session ids contain no slash, so names of two tenants never clash. */
export function objectName({ tenant, sessionId }: ObjectAddress): string {
  return `${tenant}/${sessionId}`
}

/**
 * Returns the headers of a client's request plus the address of the object and its deadline (epoch milliseconds). Replaces
 * headers that the client sent under these names.
 */
export function addressed(headers: Headers, { tenant, sessionId }: ObjectAddress, deadline: number): Headers {
  const marked = new Headers(headers)
  // A client must not pass as the store.
  marked.set(callHeader, 'live')
  marked.set(addressHeader, `${encodeURIComponent(tenant)}/${sessionId}`)
  marked.set(deadlineHeader, String(deadline))
  return marked
}

/** Returns the address from `forwardToSession`; `undefined` for other requests. */
export function readAddress({ headers }: Request): ObjectAddress | undefined {
  const [tenant, sessionId] = headers.get(addressHeader)?.split('/') ?? []
  if (headers.get(callHeader) !== 'live' || tenant === undefined || sessionId === undefined) return undefined
  try {
    return { tenant: decodeURIComponent(tenant), sessionId }
  } catch {
    return undefined
  }
}

/** Returns whether the deadline of a forwarded request has passed. */
export function isTooLate({ headers }: Request): boolean {
  const deadline = headers.get(deadlineHeader)
  // A request of another version has no deadline.
  return deadline !== null && !(Date.now() <= Number(deadline))
}

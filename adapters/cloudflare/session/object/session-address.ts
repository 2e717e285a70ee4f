import { callHeader } from './object-call.ts'

/** The session that an object holds. */
export interface ObjectAddress {
  tenant: string
  sessionId: string
}

/** Default tenant. */
export const defaultTenant = 'default'

/** Returns a caller's default tenant. */
export function tenantOf(identity: string | undefined): string {
  return identity === undefined ? defaultTenant : `user:${identity}`
}

/** Returns a tenant's identity. Returns a custom tenant unchanged. */
export function identityOf(tenant: string): string | undefined {
  if (tenant === defaultTenant) return undefined
  return tenant.startsWith('user:') ? tenant.slice('user:'.length) : tenant
}

const addressHeader = 'x-phi-core-session'
const deadlineHeader = 'x-phi-core-deadline'

/** Returns the name for a session's object. Session ids contain no slash, so names of different tenants never collide. */
export function objectName({ tenant, sessionId }: ObjectAddress): string {
  return `${tenant}/${sessionId}`
}

/**
 * Returns a client request's headers plus the object's address and deadline (epoch milliseconds). Replaces client headers with the same
 * names.
 */
export function addressed(headers: Headers, { tenant, sessionId }: ObjectAddress, deadline: number): Headers {
  const marked = new Headers(headers)
  // A client must not be able to impersonate the store.
  marked.set(callHeader, 'live')
  marked.set(addressHeader, `${encodeURIComponent(tenant)}/${sessionId}`)
  marked.set(deadlineHeader, String(deadline))
  return marked
}

/** Returns the address from `forwardToSession`, or `undefined` for other requests. */
export function readAddress({ headers }: Request): ObjectAddress | undefined {
  const [tenant, sessionId] = headers.get(addressHeader)?.split('/') ?? []
  if (headers.get(callHeader) !== 'live' || tenant === undefined || sessionId === undefined) return undefined
  try {
    return { tenant: decodeURIComponent(tenant), sessionId }
  } catch {
    return undefined
  }
}

/** Returns whether a forwarded request's deadline has passed. */
export function isTooLate({ headers }: Request): boolean {
  const deadline = headers.get(deadlineHeader)
  // A request from another version has no deadline.
  return deadline !== null && !(Date.now() <= Number(deadline))
}

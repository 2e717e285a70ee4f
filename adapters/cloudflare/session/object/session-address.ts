import { callHeader } from './object-call.ts'

/** Which session an object is. */
export interface ObjectAddress {
  tenant: string
  sessionId: string
}

/** Whose sessions they are where nobody says. */
export const defaultTenant = 'default'

/** The tenant of a caller, unless the application says otherwise. */
export function tenantOf(identity: string | undefined): string {
  return identity === undefined ? defaultTenant : `user:${identity}`
}

/** Who that is; a tenant that the application has named is given as it is. */
export function identityOf(tenant: string): string | undefined {
  if (tenant === defaultTenant) return undefined
  return tenant.startsWith('user:') ? tenant.slice('user:'.length) : tenant
}

const addressHeader = 'x-phi-core-session'
const deadlineHeader = 'x-phi-core-deadline'

/** The name of a session's object. Session ids have no slash, so names of two tenants never clash. */
export function objectName({ tenant, sessionId }: ObjectAddress): string {
  return `${tenant}/${sessionId}`
}

/** The headers of a client's request, saying who the object is, and until when (epoch ms) it is waited for: over what the client may have sent under these names. */
export function addressed(headers: Headers, { tenant, sessionId }: ObjectAddress, deadline: number): Headers {
  const marked = new Headers(headers)
  // A client must not pass for the store.
  marked.set(callHeader, 'live')
  marked.set(addressHeader, `${encodeURIComponent(tenant)}/${sessionId}`)
  marked.set(deadlineHeader, String(deadline))
  return marked
}

/** Who `forwardToSession` says that the object is; undefined for a request that did not come by way of it. */
export function readAddress({ headers }: Request): ObjectAddress | undefined {
  const [tenant, sessionId] = headers.get(addressHeader)?.split('/') ?? []
  if (headers.get(callHeader) !== 'live' || tenant === undefined || sessionId === undefined) return undefined
  try {
    return { tenant: decodeURIComponent(tenant), sessionId }
  } catch {
    return undefined
  }
}

/** Whether nobody waits any more for the answer to a request that `forwardToSession` has passed on. */
export function isTooLate({ headers }: Request): boolean {
  const deadline = headers.get(deadlineHeader)
  // One that another version has passed on has none.
  return deadline !== null && !(Date.now() <= Number(deadline))
}

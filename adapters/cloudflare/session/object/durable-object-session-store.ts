import type { SessionStore } from '../../../../src/index.ts'
import { aText, checkOptions, options as optionsOf, required, withMethods } from '../../../../src/internal.ts'
import { logSessionStore } from '../../../../src/session/index.ts'
import type { ObjectNamespace } from './durable-object.ts'
import { SessionIndex } from './index-object.ts'
import { objectLogDriver, remoteLog } from './object-log-driver.ts'
import { defaultTenant, objectName } from './session-address.ts'

/** Where sessions are kept. */
export interface SessionBindings {
  /** Binding of `SessionObject`, or of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  /** Binding of `IndexObject`. */
  index: ObjectNamespace
  /** Whose sessions: tenants do not see each other's, and their ids do not clash. Take it from who is signed in. Default `default`. */
  tenant?: string
}

const aBinding = required(withMethods('a binding of Durable Objects', 'getByName'))
const bindingOptions = optionsOf<SessionBindings>({ sessions: aBinding, index: aBinding, tenant: aText })

/**
 * Sessions in Durable Objects: one object per session, and one per tenant that lists them. For a Worker that holds the bindings.
 *
 * **Contract**
 * - Strongly consistent: an acknowledged record is durable, and every reader everywhere sees it. Of two writers the older one is refused.
 * - An append is one request to the session's object and one to the index. Records are not limited in size, except by the memory of an object.
 *
 * Source: docs/concepts/sessions.md
 */
export function durableObjectSessionStore(bindings: SessionBindings): SessionStore {
  checkOptions(bindings, bindingOptions)
  const { sessions, index, tenant = defaultTenant } = bindings
  const logOf = (sessionId: string) => remoteLog(sessions, objectName({ tenant, sessionId }))
  return logSessionStore(objectLogDriver(logOf, new SessionIndex(index, tenant)))
}

import { aFunction, checkOptions, options as optionsOf, required, withMethods } from '../../../../src/internal.ts'
import type { Caller, LiveSessions } from '../../../http/index.ts'
import type { ObjectNamespace } from '../object/durable-object.ts'
import { durableObjectSessionStore } from '../object/durable-object-session-store.ts'
import { tenantOf } from '../object/session-address.ts'
import { forwardToSession } from './forward-to-session.ts'

/** Where live sessions are kept. */
export interface ObjectLiveSessionsOptions {
  /** Binding of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  /** Binding of `IndexObject`. The class must return it from `index()`, or nothing is listed. */
  index: ObjectNamespace
  /** Whose tenant a caller is. Default: `user:` and the identity; `default` for the only user of a server. */
  tenant?: (caller: Caller) => string
}

const aBinding = required(withMethods('a binding of Durable Objects', 'getByName'))
const liveOptions = optionsOf<ObjectLiveSessionsOptions>({ sessions: aBinding, index: aBinding, tenant: aFunction })

/**
 * Live sessions in Durable Objects, one each: what `createAgentApp` and `createWorker` take as `sessions` on Cloudflare.
 *
 * **Contract**: callers with different identities never reach the same object, unless `tenant` says that they are one.
 *
 * Source: docs/live-sessions.md
 */
export function objectLiveSessions(options: ObjectLiveSessionsOptions): LiveSessions {
  checkOptions(options, liveOptions)
  const { sessions, index, tenant = ({ identity }) => tenantOf(identity) } = options
  return {
    fetch: ({ sessionId, ...caller }, request) =>
      forwardToSession(request, { sessions, sessionId, tenant: tenant(caller), path: new URL(request.url).pathname }),
    list: (caller, page) => durableObjectSessionStore({ sessions, index, tenant: tenant(caller) }).list(page),
  }
}

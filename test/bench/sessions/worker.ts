import {
  type D1Binding,
  d1SessionStore,
  durableObjectSessionStore,
  type KvNamespace,
  kvSessionStore,
  type ObjectNamespace,
} from '../../../adapters/cloudflare/index.ts'
import { appendCost } from './append-cost.ts'

export { IndexObject, SessionObject } from '../../../adapters/cloudflare/index.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
  KV: KvNamespace
  DB: D1Binding
}

// A Worker is a default export. Its clock stands still while it computes: what is measured is the way to the store and back.
export default {
  async fetch(request: Request, { SESSIONS, INDEX, KV, DB }: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url)
    const store = () => {
      if (pathname === '/kv') return kvSessionStore(KV)
      return pathname === '/d1' ? d1SessionStore({ database: DB }) : durableObjectSessionStore({ sessions: SESSIONS, index: INDEX })
    }
    return Response.json(await appendCost(store()))
  },
}

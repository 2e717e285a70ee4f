import { durableObjectSessionStore, type KvNamespace, kvSessionStore, type ObjectNamespace } from '../../../adapters/cloudflare/index.ts'
import { appendCost } from './append-cost.ts'

export { IndexObject, SessionObject } from '../../../adapters/cloudflare/index.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
  KV: KvNamespace
}

// A Worker is a default export. Its clock stands still while it computes: what is measured is the way to the store and back.
export default {
  async fetch(request: Request, { SESSIONS, INDEX, KV }: Bindings): Promise<Response> {
    const isKv = new URL(request.url).pathname === '/kv'
    return Response.json(await appendCost(isKv ? kvSessionStore(KV) : durableObjectSessionStore({ sessions: SESSIONS, index: INDEX })))
  },
}

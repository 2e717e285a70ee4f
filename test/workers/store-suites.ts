/** The suite of session stores inside a Worker: `/list` names the cases, `/run/<index>` runs one. */
import { durableObjectSessionStore, type KvNamespace, kvSessionStore, type ObjectNamespace } from '../../adapters/cloudflare/index.ts'
import type { SessionStore } from '../../src/index.ts'
import { sessionStoreSuite } from '../../testing/index.ts'
import { cases, describe, expect, it } from '../harness/mini-vitest.ts'
import { kvCases } from './kv-cases.ts'
import { damageKv } from './kv-lines.ts'
import { delayedKv, kvFolder, type RealKv } from './kv-wrappers.ts'
import { objectCases } from './object-cases.ts'
import { damageObject } from './store-objects.ts'

export { TestedIndex, TestedSession } from './store-objects.ts'

interface Bindings {
  KV: RealKv
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

let env: Bindings | undefined

function bindings(): Bindings {
  if (env === undefined) throw new Error('Bindings are there in a request only.')
  return env
}

/** Small, so that the records of megabytes are cut into pieces. */
const maxValueBytes = 200_000

function kvSuite(name: string, view?: typeof delayedKv): void {
  let folder = bindingsLater()
  let seen = { namespace: folder, settle: async (): Promise<void> => undefined }
  const store = (): SessionStore => kvSessionStore(seen.namespace, { maxValueBytes })
  sessionStoreSuite(
    { describe, it, expect },
    {
      name,
      create: () => {
        folder = kvFolder(bindings().KV, crypto.randomUUID())
        seen = view?.(folder) ?? { namespace: folder, settle: async () => undefined }
        return store()
      },
      another: store,
      settle: () => seen.settle(),
      ...(view === undefined && { damage: (sessionId, how) => damageKv(folder, sessionId, how) }),
    },
  )
}

/** Stands in until a test has made its own. */
function bindingsLater(): KvNamespace {
  return kvFolder({ get: noBinding, put: noBinding, delete: noBinding, list: noBinding }, '')
}

function noBinding(): never {
  throw new Error('No store was created yet.')
}

kvSuite('KV')
kvSuite('KV, seen late', delayedKv)

let tenant = ''
const objectStore = (): SessionStore => durableObjectSessionStore({ sessions: bindings().SESSIONS, index: bindings().INDEX, tenant })
sessionStoreSuite(
  { describe, it, expect },
  {
    name: 'Durable Objects',
    create: () => {
      tenant = crypto.randomUUID()
      return objectStore()
    },
    another: objectStore,
    damage: (sessionId, how) => damageObject(bindings().SESSIONS, `${tenant}/${sessionId}`, how),
  },
)

objectCases(bindings)
kvCases(() => kvFolder(bindings().KV, crypto.randomUUID(), 100))

async function runCase(index: number): Promise<Response> {
  try {
    await cases[index]?.run()
    return Response.json({ ok: true })
  } catch (error) {
    return Response.json({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

// A Worker is a default export.
export default {
  async fetch(request: Request, given: Bindings): Promise<Response> {
    env = given
    const { pathname } = new URL(request.url)
    if (pathname === '/list') return Response.json(cases.map(({ name }) => name))
    return runCase(Number(pathname.slice('/run/'.length)))
  },
}

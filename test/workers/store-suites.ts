/** The suite of session stores inside a Worker: `/list` names the cases, `/run/<index>` runs one. */
import {
  type D1Binding,
  type D1Prepared,
  d1SessionStore,
  durableObjectSessionStore,
  type KvNamespace,
  kvSessionStore,
  type ObjectNamespace,
} from '../../adapters/cloudflare/index.ts'
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
  DB: RealD1
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

/** The binding with what a test needs to damage a log. */
interface RealD1 extends D1Binding {
  prepare(query: string): RealPrepared
}

interface RealPrepared extends D1Prepared {
  bind(...values: Parameters<D1Prepared['bind']>): RealPrepared
  all(): Promise<{ results: Record<string, string | number>[] }>
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

const d1Store = (): SessionStore => d1SessionStore({ database: bindings().DB, tenant })
sessionStoreSuite(
  { describe, it, expect },
  {
    name: 'D1',
    create: () => {
      tenant = crypto.randomUUID()
      return d1Store()
    },
    another: d1Store,
    damage: damageD1,
  },
)

async function damageD1(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const { DB } = bindings()
  const all = async (text: string, ...values: (string | number)[]) =>
    (
      await DB.prepare(text)
        .bind(...values)
        .all()
    ).results
  const place = [tenant, sessionId]
  const rows = await all(
    'SELECT r.session, r.epoch, r.line FROM phi_records r JOIN phi_sessions s ON s.id = r.session WHERE s.tenant = ?1 AND s.session_id = ?2 ORDER BY r.epoch, r.seq',
    ...place,
  )
  const last = rows.at(-1)
  if (last === undefined) throw new Error(`Session ${sessionId} has no lines.`)
  await all('DELETE FROM phi_records WHERE session = ?1', last.session ?? 0)
  for (const [at, line] of how(rows.map((row) => String(row.line))).entries()) {
    const { session = 0, epoch = 0 } = rows[at] ?? last
    await all('INSERT INTO phi_records VALUES (?1, ?2, ?3, 0, ?4)', session, epoch, at + 1, line)
  }
}

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

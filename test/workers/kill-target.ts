/** A Worker that is killed: it writes to sessions in Durable Objects, and says of each record when it is acknowledged. */
import { durableObjectSessionStore, type ObjectNamespace } from '../../adapters/cloudflare/index.ts'
import { importVersion, versionsIn } from '../support/session-versions.ts'

export { IndexObject, SessionObject } from '../../adapters/cloudflare/index.ts'

interface Bindings {
  SESSIONS: ObjectNamespace
  INDEX: ObjectNamespace
}

/** Long enough for two rows now and then. */
const sizes = [10, 3000, 200_000, 100, 600_000]

// A Worker is a default export.
export default {
  async fetch(request: Request, { SESSIONS, INDEX }: Bindings): Promise<Response> {
    const store = durableObjectSessionStore({ sessions: SESSIONS, index: INDEX })
    const { pathname, searchParams } = new URL(request.url)
    const sessionId = searchParams.get('session') ?? ''
    if (pathname === '/list') return Response.json(await store.listIds())
    if (pathname === '/write') return new Response(writing(store, sessionId))
    if (pathname === '/import') return new Response(importing(store, sessionId, Number(searchParams.get('from'))))
    const { records, damage } = await store.tail(sessionId)
    if (pathname === '/versions') return Response.json({ damage, versions: versionsIn(records) })
    const seen = records.map(({ entry, seq }) =>
      entry.type === 'input' && entry.message.role === 'extension' ? [seq, entry.message.data] : [seq],
    )
    return Response.json({ damage, notes: seen.map(([seq, data]) => ({ seq, ...sizeOf(data) })) })
  },
}

/** A line per acknowledged record, without end. */
function writing(store: ReturnType<typeof durableObjectSessionStore>, sessionId: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const opened = store.open(sessionId, { agentId: 'a' })
  let seq = 0
  return new ReadableStream({
    async pull(controller) {
      const writer = await opened
      seq = Math.max(seq, writer.records.length) + 1
      const data = `${seq} ${'x'.repeat(sizes[seq % sizes.length] ?? 0)}`
      await writer.append([{ entry: { type: 'input', message: { role: 'extension', id: `m${seq}`, kind: 'note', data } } }])
      controller.enqueue(encoder.encode(`${seq}\n`))
    },
  })
}

/** A line per version of a session that was imported in place of the one before, without end. */
function importing(store: ReturnType<typeof durableObjectSessionStore>, sessionId: string, from: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let version = from
  return new ReadableStream({
    async pull(controller) {
      await importVersion(store, sessionId, version)
      controller.enqueue(encoder.encode(`${version++}\n`))
    },
  })
}

/** What a record says of itself, and whether it is whole. */
function sizeOf(data: unknown): { says: number; isWhole: boolean } {
  const [says = '', rest = ''] = String(data).split(' ')
  return { says: Number(says), isWhole: rest.length === sizes[Number(says) % sizes.length] }
}

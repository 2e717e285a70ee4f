/**
 * The Worker that carries the shared suite, whose files workerd.test.ts bundles with it: `/list` names the cases, `/run/<index>` runs one. One
 * request per case, because workerd ties every socket to the request that opened it.
 */
import { cases } from './mini-vitest.ts'

async function runCase(index: number): Promise<Response> {
  const found = cases[index]
  if (!found) return new Response('no such case', { status: 404 })
  try {
    await found.run()
    return Response.json({ ok: true })
  } catch (error) {
    return Response.json({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

export default {
  async fetch(request: Request, bindings: { BASE_URL: string }): Promise<Response> {
    globalThis.__BASE_URL__ = bindings.BASE_URL
    const { pathname } = new URL(request.url)
    if (pathname === '/list') return Response.json(cases.map((each) => each.name))
    return runCase(Number(pathname.slice('/run/'.length)))
  },
}

import { afterAll, describe, expect, it } from 'vitest'
import { serverCalls } from '../../playground/src/remote/server-calls.ts'
import { SessionError } from '../../src/session.ts'
import { serve } from '../harness/serve.ts'

const problem = (status: number, code: string) => Response.json({ code, detail: `It is ${code}.` }, { status })
const answers: Record<string, () => Response> = {
  '/page': () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }),
  '/unknown': () => problem(404, 'notFound'),
  '/inherited': () => problem(400, 'constructor'),
  '/gateway': () => new Response('Bad gateway', { status: 502 }),
}
const server = await serve(async (request) => answers[new URL(request.url).pathname]?.() ?? Response.json({ ok: true }))
afterAll(() => server[Symbol.asyncDispose]())
const { json } = serverCalls(server.url, () => ({}))
const failure = (path: string): Promise<unknown> =>
  json(path).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('server responses in the playground', () => {
  it('returns JSON or reports a missing agent endpoint', async () => {
    expect(await json('/')).toEqual({ ok: true })
    expect(await failure('/page')).toMatchObject({ message: expect.stringContaining('not an agent endpoint') })
    expect(await failure('/gateway')).toMatchObject({ message: expect.stringContaining('502') })
  })

  it('throws a SessionError for known codes, and a plain error otherwise', async () => {
    const unknown = await failure('/unknown')
    expect([SessionError.isInstance(unknown), unknown]).toMatchObject([true, { code: 'notFound' }])
    const inherited = await failure('/inherited')
    expect([SessionError.isInstance(inherited), inherited]).toMatchObject([false, { message: 'It is constructor.' }])
  })
})

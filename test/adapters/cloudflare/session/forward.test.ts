import { describe, expect, it } from 'vitest'
import { forwardToSession, type ObjectNamespace } from '../../../../adapters/cloudflare/index.ts'

/** A namespace whose object fails as the platform says, as often as there are failures, and then answers with what it was asked. */
function failing(...failures: object[]): ObjectNamespace & { asked: number } {
  const namespace = {
    asked: 0,
    getByName: () => ({
      async fetch(request: Request) {
        const failure = failures[namespace.asked++]
        if (failure !== undefined) throw Object.assign(new Error('Network connection lost.'), failure)
        return new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`)
      },
    }),
  }
  return namespace
}

const get = new Request('https://worker/sessions/s1?x=1')
const post = () => new Request('https://worker/sessions/s1', { method: 'POST', body: '{}' })
const forward = (request: Request, sessions: ObjectNamespace, more: { tenant?: string; path?: string } = {}) =>
  forwardToSession(request, { sessions, sessionId: 's1', path: '/', ...more })

describe('forwardToSession when the object stops during the request', () => {
  it('retries requests that are safe to repeat', async () => {
    for (const failure of [{ retryable: true }, { durableObjectReset: true }]) {
      const sessions = failing(failure, failure)
      expect(await (await forward(get, sessions)).text()).toBe('GET / ')
      expect(sessions.asked).toBe(3)
    }
  })

  it.each([
    ['a prompt', post, [{ retryable: true }]],
    ['an overloaded object', () => get.clone(), [{ retryable: true, overloaded: true }]],
    ['an object that keeps failing', () => get.clone(), [{ retryable: true }, { retryable: true }, { retryable: true }]],
  ])('responds with 503 to %s', async (_name, request, failures) => {
    const sessions = failing(...failures)
    const response = await forward(request(), sessions)
    expect([response.status, await response.json(), sessions.asked]).toMatchObject([503, { code: 'unavailable' }, failures.length])
  })

  it('rethrows errors that are not retryable', async () => {
    await expect(forward(get, failing({}))).rejects.toThrow('Network connection lost.')
  })
})

describe('forwardToSession when the object does not respond', () => {
  it('responds at its deadline with a retry time and discards a late response', async () => {
    let answer: (response: Response) => void = () => undefined
    const asked: Request[] = []
    const getByName = () => ({
      fetch: (request: Request) => {
        asked.push(request)
        return new Promise<Response>((resolve) => {
          answer = resolve
        })
      },
    })
    const from = Date.now()
    const request = new Request('https://worker/', { headers: { 'x-phi-core-deadline': '99999999999999' } })
    const response = await forwardToSession(request, { sessions: { getByName }, sessionId: 's1', path: '/', timeoutMs: 20 })
    expect([response.status, await response.json()]).toMatchObject([504, { code: 'deadlineExceeded' }])
    const deadline = Number(asked[0]?.headers.get('x-phi-core-deadline'))
    expect([deadline >= from + 20, deadline <= Date.now() + 20]).toEqual([true, true])
    const isLetGo = new Promise<void>((cancel) => {
      answer(new Response(new ReadableStream({ cancel: () => cancel() })))
    })
    await isLetGo
  })
})

describe('forwardToSession routing', () => {
  it.each(['//evil.example/runs', '/../x', '/a b', '?x', '#x', '', 'https://evil.example/', '/%'])(
    "routes any path to the session's object: %j",
    async (path) => {
      expect(await (await forward(post(), failing(), { path })).text()).toMatch(/^POST \/\S* \{\}$/)
    },
  )

  it.each(['', '\ud800', 7, {}, null])('rejects the invalid tenant %j', async (tenant) => {
    // As JavaScript gives it.
    await expect(forward(get, failing(), { tenant: tenant as string })).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'invalidOption',
    })
  })
})

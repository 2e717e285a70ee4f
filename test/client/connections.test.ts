import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { patient } from '../support/patience.ts'

/** A session on a server, and what was asked of that. */
function served() {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  const streams: Request[] = []
  const fetch = async (request: Request) => {
    if (/\/(?:events|runs)$/.test(new URL(request.url).pathname)) streams.push(request)
    return app.fetch(request)
  }
  const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch })
  onTestFinished(() => session.close())
  return { session, streams }
}

it('a stream that nobody reads any more gives its connection back at once', async () => {
  const { session, streams } = served()
  const stop = session.subscribe(() => undefined)
  await expect.poll(() => streams.length, patient).toBe(1)
  expect(streams[0]?.signal.aborted).toBe(false)
  stop()
  await expect.poll(() => streams[0]?.signal.aborted, patient).toBe(true)
  session.subscribe(() => undefined)
  await expect.poll(() => streams.length, patient).toBe(2)
  session.close()
  await expect.poll(() => streams[1]?.signal.aborted, patient).toBe(true)
})

it('of two tabs none waits for the cache of the other', async () => {
  const { session, streams } = served()
  session.subscribe(() => undefined)
  await session.prompt('Hi.').result
  expect(streams.length).toBeGreaterThan(1)
  expect(new Set(streams.map(({ cache }) => cache))).toEqual(new Set(['no-store']))
})

it.each(['', '.hidden', 'a/b'])('a session of no server is refused by name: %j', (sessionId) => {
  expect(() => remoteSession({ url: 'http://localhost', sessionId })).toThrow(/sessionId .*an id of 1 to 200 characters/)
})

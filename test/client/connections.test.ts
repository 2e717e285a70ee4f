import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

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

it('closes the connection of an abandoned stream immediately', async () => {
  const { session, streams } = served()
  const stop = session.subscribe(() => undefined)
  await expect.poll(() => streams.length).toBe(1)
  expect(streams[0]?.signal.aborted).toBe(false)
  stop()
  await expect.poll(() => streams[0]?.signal.aborted).toBe(true)
  session.subscribe(() => undefined)
  await expect.poll(() => streams.length).toBe(2)
  session.close()
  await expect.poll(() => streams[1]?.signal.aborted).toBe(true)
})

it('sends no-store, so two tabs do not share one cache entry', async () => {
  const { session, streams } = served()
  session.subscribe(() => undefined)
  await session.prompt('Hi.').result
  expect(streams.length).toBeGreaterThan(1)
  expect(new Set(streams.map(({ cache }) => cache))).toEqual(new Set(['no-store']))
})

it.each(['', '.hidden', 'a/b'])('rejects an invalid sessionId and names it: %j', (sessionId) => {
  expect(() => remoteSession({ url: 'http://localhost', sessionId })).toThrow(/sessionId .*an id of 1 to 200 characters/)
})

it('ignores events that a proxy repeats, also when a response resumes', async () => {
  const model = scripted(() => ({ text: ['one ', 'two ', 'three'] }))
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  /** The first answer ends before the first piece; what comes together in the others comes once more. */
  const spoiled = async (request: Request) => {
    const answer = await app.fetch(request)
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) return answer
    if (request.method === 'GET') return new Response(answer.body?.pipeThrough(twice()), answer)
    const text = await answer.text()
    return new Response(text.slice(0, text.lastIndexOf('id: ', text.indexOf('"delta"'))), answer)
  }
  const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: spoiled, reconnect: { initialDelayMs: 1 } })
  onTestFinished(() => session.close())
  const run = session.prompt('Go.')
  let pieces = ''
  run.subscribe((event) => {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') pieces += event.delta.delta
  })
  expect([await run.text(), pieces]).toEqual(['one two three', 'one two three'])
})

function twice(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform: (frames, controller) => {
      for (const each of [frames, frames]) controller.enqueue(each)
    },
  })
}

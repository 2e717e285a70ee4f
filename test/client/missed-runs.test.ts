import { expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { gate } from '../support/play.ts'

it('reports a run that started and ended during a catch-up', async () => {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  const direct = async (request: Request) => app.fetch(request)
  // The stream of events is cut on demand, and what is read after a run waits here.
  let cut = (): void => undefined
  let isCut = false
  const [reading, mayRead] = [gate(), gate()]
  const wayOf = async (request: Request) => {
    const { pathname, search } = new URL(request.url)
    if (pathname.endsWith('/history') && !search.includes('after=')) {
      reading.open()
      await mayRead.opened
    }
    if (!pathname.endsWith('/events')) return direct(request)
    if (isCut) throw new TypeError('No way.')
    const answer = await direct(request)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const ended = new AbortController()
    cut = () => {
      isCut = true
      ended.abort(new Error('cut'))
    }
    answer.body?.pipeTo(writable, { signal: ended.signal }).catch(() => undefined)
    return new Response(readable, answer)
  }
  const reconnect = { initialDelayMs: 1, maxDelayMs: 5, maxRetries: 10_000 }
  const shared = { url: 'http://localhost', sessionId: 's', reconnect, logger: false as const }
  const [watcher, speaker] = [remoteSession({ ...shared, fetch: wayOf }), remoteSession({ ...shared, fetch: direct })]
  const ended: string[] = []
  watcher.subscribe((event) => {
    if (event.type === 'agentEnd') ended.push(event.loopId)
  })
  await watcher.prompt('Zero.').result
  cut()
  await speaker.prompt('First.').result
  isCut = false
  await reading.opened
  cut()
  const { loopId } = await speaker.prompt('Second.').result
  mayRead.open()
  isCut = false
  await expect.poll(() => ended.at(-1)).toBe(loopId)
  expect(ended).toHaveLength(3)
  await expect.poll(() => watcher.messages).toEqual(await speaker.load())
  watcher.close()
  speaker.close()
  await sessions.close()
})

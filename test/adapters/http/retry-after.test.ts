/** Who is refused for now is told when to ask again. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions, type Problem } from '../../../adapters/http/index.ts'
import { memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { frames } from './read-sse.ts'

function serverOver(store: SessionStore, limits: { maxSessions?: number } = {}) {
  const sessions = memoryLiveSessions({ store, agent: ({ sessionId }) => endpointAgent(sessionId), ...limits })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: () => true })
  const post = async (path: string) =>
    app.request(`/sessions/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' })
  return { sessions, post }
}

/** A store that takes nothing more once its disk is full. */
function limited(store: SessionStore) {
  const disk = { isFull: false }
  const journal: SessionStore['journal'] = (options) => {
    const own = store.journal(options)
    return {
      open: (...given) => own.open(...given),
      append: (...given) => (disk.isFull ? Promise.reject(new Error('disk full')) : own.append(...given)),
      media: (...given) => own.media(...given),
      close: () => own.close(),
    }
  }
  return { disk, store: Object.assign(Object.create(store), { journal }) as SessionStore } // a store with one method of its own
}

async function refusal(response: Response): Promise<[number, string, boolean]> {
  const { code } = await response.json()
  return [response.status, code, Number(response.headers.get('retry-after')) >= 1]
}

describe('Retry-After', () => {
  it('requires a retry delay for transient problems at compile time', () => {
    // @ts-expect-error: when to ask again is missing.
    const problem: Problem = { status: 503, code: 'unavailable', detail: 'Not now.' }
    // @ts-expect-error: as well.
    const other: Problem = { status: 429, code: 'tooManyRuns', detail: 'Not now.' }
    expect([problem.status, other.status]).toEqual([503, 429])
  })

  it('sends a delay if the server has reached its maximum of sessions', async () => {
    const { post } = serverOver(memorySessionStore(), { maxSessions: 1 })
    const first = await post('ask-1/runs')
    expect(await refusal(await post('ask-2/runs'))).toEqual([503, 'tooManySessions', true])
    await first.body?.cancel()
  })

  it('sends a delay if the server is closing', async () => {
    const { sessions, post } = serverOver(memorySessionStore())
    await sessions.drain()
    expect(await refusal(await post('talk-1/runs'))).toEqual([503, 'unavailable', true])
  })

  it('sends a delay if a message could not be stored', async () => {
    const { disk, store } = limited(memorySessionStore())
    const { post } = serverOver(store)
    const run = frames(await post('ask-1/runs'))
    for await (const { event } of run) if (event === 'approvalRequested') break
    disk.isFull = true
    expect(await refusal(await post('ask-1/steer'))).toEqual([503, 'storeFailed', true])
  })
})

import { afterAll, expect, it } from 'vitest'
import { meet } from '../../../support/three-clients.ts'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
afterAll(() => worker.close())

it('joins one run of a Worker from AI SDK, AG-UI and phi clients', async () => {
  const asAda: typeof fetch = (input, init) => {
    const request = new Request(input, init)
    request.headers.set('authorization', 'Bearer ada-secret')
    return fetch(request)
  }
  const url = String(worker.url).replace(/\/$/, '')
  await expect(meet({ url, fetch: asAda, sessionId: `meet-${crypto.randomUUID()}` })).resolves.toBeUndefined()
})

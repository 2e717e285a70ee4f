import { afterAll, it } from 'vitest'
import { EndpointClient } from '../../../../src/testing/endpoint-client.ts'
import { meet } from '../../../support/three-clients.ts'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
afterAll(() => worker.close())

it('a chat of the AI SDK, a client of AG-UI and our own meet in one run of a Worker', { timeout: 60_000 }, async () => {
  const asAda: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', 'Bearer ada-secret')
    return fetch(input, { ...init, headers })
  }
  const url = String(worker.url).replace(/\/$/, '')
  await meet({ url, fetch: asAda, client: new EndpointClient((path, init) => asAda(new URL(path, worker.url), init), 'meet') })
})

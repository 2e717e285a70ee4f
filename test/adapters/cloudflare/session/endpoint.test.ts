import { afterAll, describe, expect, it } from 'vitest'
import { type AskEndpoint, agentEndpointSuite } from '../../../../src/testing/index.ts'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
afterAll(() => worker.close())

const ask: AskEndpoint = (path, init = {}, user = 'ada') => {
  const headers = new Headers(init.headers)
  if (user !== 'nobody') headers.set('authorization', `Bearer ${user}-secret`)
  return fetch(new URL(path, worker.url), { ...init, headers })
}

agentEndpointSuite({ describe, it, expect }, { name: 'sessions in Durable Objects', ask })

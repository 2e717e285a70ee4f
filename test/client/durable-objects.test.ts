import { afterAll } from 'vitest'
import { runs } from '../support/runs.ts'
import { startWorker } from '../workers/test-harness.ts'
import { faultCases } from './fault-cases.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
afterAll(() => worker.close())

faultCases('sessions in Durable Objects', () => worker.url, runs(60, 1000))

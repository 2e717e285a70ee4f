import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { thereAndBack } from '../../../support/handoff.ts'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
const folder = await mkdtemp(join(tmpdir(), 'phi-handoff-'))
afterAll(async () => {
  await worker.close()
  await rm(folder, { recursive: true, force: true })
})

it('transfers a session from Node to a Durable Object and back', async () => {
  const asAda: typeof fetch = (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', 'Bearer ada-secret')
    return fetch(input, { ...init, headers })
  }
  await thereAndBack(fileSessionStore(folder), { url: String(worker.url).replace(/\/$/, ''), fetch: asAda })
})

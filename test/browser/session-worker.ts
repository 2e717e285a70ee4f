import { indexedDbSessionStore } from '../../adapters/browser/index.ts'
import type { SessionWriter } from '../../src/types/session/session-store.ts'
import { importVersion } from '../support/session-versions.ts'
import { userMessage } from './session-records.ts'

/** What a test asks of a worker: a thread with a connection and locks of its own, as another tab has. */
export type WorkerTask =
  | { type: 'open'; database: string; sessionId: string }
  | { type: 'append'; count: number }
  | { type: 'import'; database: string; sessionId: string; from: number }

/** What it answers: `records`, how many there were at `open`; `acknowledged`, after each append and import; `failed`, with the code; `takenOver`. */
export type WorkerAnswer =
  | { type: 'records'; count: number }
  | { type: 'acknowledged' }
  | { type: 'failed'; code: string }
  | { type: 'takenOver'; sessionId: string }

let writer: SessionWriter | undefined

function answer(message: WorkerAnswer): void {
  postMessage(message)
}

async function run(task: WorkerTask): Promise<void> {
  if (task.type === 'open') {
    const onTakenOver = (sessionId: string) => answer({ type: 'takenOver', sessionId })
    writer = await indexedDbSessionStore({ name: task.database, onTakenOver }).open(task.sessionId, { agentId: 'worker' })
    answer({ type: 'records', count: writer.records.length })
    return
  }
  if (task.type === 'import') {
    const store = indexedDbSessionStore({ name: task.database })
    // Until the worker is killed.
    for (let version = task.from; ; version++) {
      await importVersion(store, task.sessionId, version)
      answer({ type: 'acknowledged' })
    }
  }
  for (let index = 0; index < task.count; index++) {
    await writer?.append([userMessage(`worker ${index}`)])
    answer({ type: 'acknowledged' })
  }
}

let last = Promise.resolve()

addEventListener('message', ({ data }: MessageEvent<WorkerTask>) => {
  last = last.then(() => run(data)).catch((error: unknown) => answer({ type: 'failed', code: String(Reflect.get(Object(error), 'code')) }))
})

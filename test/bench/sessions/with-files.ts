// npm run bench sessions: how long a session with ten files of 5 MB takes to open, as a ratio to the same session without: by turns, each with a store
// that has opened nothing before.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type FileContent, memorySessionStore, resumeAgent, type SessionStore } from 'phi-core'
import { fileSessionStore } from 'phi-core/node'
import { scripted } from 'phi-core/testing'
import { quantile } from '../task.ts'

const goal = 1.1
const files = 10
const fileBytes = 5_000_000
const prompts = 200
const pairs = 60

/** A file like no other of the session. */
function pdf(n: number): FileContent {
  const bytes = Buffer.alloc(fileBytes, `${n} of them, `)
  bytes.write('%PDF-1.7\n')
  return { type: 'file', mimeType: 'application/pdf', name: `${n}.pdf`, data: bytes.toString('base64') }
}

async function write(session: SessionStore, sessionId: string, hasFiles: boolean): Promise<void> {
  const agent = new Agent({ model: scripted((_, turn) => ({ text: `Answer ${turn}: rain, as ever.` })), session, sessionId })
  for (let n = 0; n < prompts; n += 1) {
    const text = { type: 'text' as const, text: `Question ${n}: what does it say?` }
    const isWithFile = hasFiles && n % (prompts / files) === 0
    const { status } = await agent.prompt([{ role: 'user', content: isWithFile ? [text, pdf(n)] : [text] }]).result
    if (status !== 'completed') throw new Error(`Prompt ${n} ended ${status}.`)
  }
}

async function opened(store: SessionStore, sessionId: string): Promise<number> {
  const start = performance.now()
  const { messages } = await resumeAgent(store, sessionId, { model: scripted([]) })
  const ms = performance.now() - start
  if (messages.length !== 2 * prompts) throw new Error(`${messages.length} messages instead of ${2 * prompts}`)
  return ms
}

async function measure(store: string, make: () => SessionStore) {
  await write(make(), 'with', true)
  await write(make(), 'without', false)
  const times: { with: number[]; without: number[] } = { with: [], without: [] }
  for (let n = 0; n < pairs; n += 1) {
    for (const name of n % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const))
      times[name].push(await opened(make(), name))
  }
  // The first ones compile.
  const [own, plain] = [quantile(times.with.slice(pairs / 4)), quantile(times.without.slice(pairs / 4))]
  const ratio = own / plain
  const met = ratio <= goal
  return { store, 'without, ms': plain.toFixed(2), 'with, ms': own.toFixed(2), ratio: ratio.toFixed(2), goal: `≤ ${goal}`, met }
}

const directory = mkdtempSync(join(tmpdir(), 'phi-bench-'))
const inMemory = memorySessionStore()
try {
  console.table([await measure('memory', () => inMemory), await measure('files', () => fileSessionStore(directory))])
} finally {
  rmSync(directory, { recursive: true, force: true })
}

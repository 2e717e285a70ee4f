import { afterAll, expect, it } from 'vitest'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({
  main: 'test/workers/store-suites.ts',
  objects: { SESSIONS: 'TestedSession', INDEX: 'TestedIndex' },
  kv: ['KV'],
  d1: ['DB'],
})
afterAll(() => worker.close())
const names: string[] = await (await fetch(new URL('/list', worker.url))).json()

it('finds the tests of the session store suite', () => expect(names.length).toBeGreaterThan(0))

for (const [index, name] of names.entries()) {
  it(`${name} (in workerd)`, async () => {
    const outcome: { ok: boolean; error?: string } = await (await fetch(new URL(`/run/${index}`, worker.url))).json()
    if (!outcome.ok) throw new Error(`in workerd: ${outcome.error}`)
  })
}

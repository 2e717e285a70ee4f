import { afterAll, expect, inject, it } from 'vitest'
import { serveWorker } from './workerd-serve.ts'

const worker = await serveWorker(new URL('./workerd.ts', import.meta.url), { BASE_URL: inject('baseUrl') })
afterAll(() => worker.stop())
const names: string[] = await (await fetch(`${worker.url}/list`)).json()

it('carries the shared suite', () => expect(names.length).toBeGreaterThan(0))

for (const [index, name] of names.entries()) {
  it(`${name} (in workerd)`, async () => {
    const outcome: { ok: boolean; error?: string } = await (await fetch(`${worker.url}/run/${index}`)).json()
    if (!outcome.ok) throw new Error(`in workerd: ${outcome.error}`)
  })
}

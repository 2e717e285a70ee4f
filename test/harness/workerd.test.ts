import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, inject, it } from 'vitest'
import { sharedFiles } from './shared-files.ts'
import { serveWorker } from './workerd-serve.ts'

/** Writes the entry of the Worker: the shared files, because workerd has no file system to find them in, then the handler that runs them. */
function writeEntry(folder: string): URL {
  const imports = sharedFiles().map((path) => `import ${JSON.stringify(resolve(path))}`)
  const handler = JSON.stringify(resolve('test/harness/workerd.ts'))
  writeFileSync(join(folder, 'entry.ts'), [...imports, `export { default } from ${handler}`].join('\n'))
  return pathToFileURL(join(folder, 'entry.ts'))
}

const folder = mkdtempSync(join(tmpdir(), 'phi-shared-'))
const worker = await serveWorker(writeEntry(folder), { BASE_URL: inject('baseUrl') })
rmSync(folder, { recursive: true })
afterAll(() => worker.stop())
const names: string[] = await (await fetch(`${worker.url}/list`)).json()

it('lists the shared tests', () => expect(names.length).toBeGreaterThan(0))

for (const [index, name] of names.entries()) {
  it(`passes in workerd: ${name}`, async () => {
    const outcome: { ok: boolean; error?: string } = await (await fetch(`${worker.url}/run/${index}`)).json()
    if (!outcome.ok) throw new Error(`in workerd: ${outcome.error}`)
  })
}

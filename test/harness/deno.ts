/** Entry of `deno test`: imports every shared test file, and those for runtimes with files, and hands the collected cases to Deno's own runner. */
import { cases, finals } from './mini-vitest.ts'

declare const Deno: {
  test: (name: string, run: () => Promise<void>) => void
  readDirSync: (folder: URL) => Iterable<{ name: string }>
}

const folder = new URL('../shared/', import.meta.url)
const files = [...Deno.readDirSync(folder)].map((entry) => entry.name).filter((name) => name.endsWith('.test.ts'))
for (const file of files.toSorted()) await import(new URL(file, folder).href)
// What needs files runs where Node's modules are, so not in the shared suite.
await import('../adapters/node/session/file-session-store.test.ts')
for (const { name, run } of cases) Deno.test(name, run)
Deno.test('after all', async () => {
  for (const step of finals) await step()
})

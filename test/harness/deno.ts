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
for (const { name, run } of cases) Deno.test(name, () => within(run))
Deno.test('after all', async () => {
  for (const step of finals) await step()
})

/** Deno waits for ever: a case that hangs fails by its name, so that the others are run. */
async function within(run: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It was not done after 60 s.')), 60_000)
  })
  try {
    await Promise.race([run(), late])
  } finally {
    clearTimeout(timer)
  }
}

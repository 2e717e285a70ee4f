/** Entry of `deno test`: imports the shared test files, and those for runtimes with files, and hands the collected cases to Deno's own runner. */
import { cases, finals } from './mini-vitest.ts'
import { isSmoke, sharedFiles } from './shared-files.ts'

declare const Deno: {
  test: (name: string, run: () => Promise<void>) => void
}

for (const path of sharedFiles()) await import(new URL(`../../${path}`, import.meta.url).href)
// What needs files runs where Node's modules are, so not in the shared suite.
if (!isSmoke) await import('../adapters/node/session/file-session-store.test.ts')
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

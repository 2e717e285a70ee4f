/**
 * The process in which the tests of `npm run mutants` run: one vitest, kept while it answers. `mutants.ts` forks it and ends it when a
 * mutant does not come to an end. The sources are changed in memory, as they are loaded.
 */
import { resolve } from 'node:path'
import { createVitest } from 'vitest/node'
import { findMutants, type Mutant } from './find-mutants.ts'
import { switchable } from './switchable.ts'

/** Test files, run in this order until one fails. */
export interface Job {
  tests: string[]
  /** In one process, which is several times as fast; what one file leaves behind then meets the next. */
  isTogether: boolean
  /** What is switched on; null: every source notes what the tests reach. */
  mutant: Pick<Mutant, 'file' | 'index'> | null
}

export interface TestFileResult {
  test: string
  /** What made it fail: the first failed test, or what went wrong outside of one. */
  failure?: string
  ms: number
  hits: Record<string, number[]>
}

const root = resolve(import.meta.dirname, '../..')
let current: Job['mutant'] = null

class InOrder {
  shard<T>(files: T): T {
    return files
  }
  sort<T>(files: T): T {
    return files
  }
}

const vitest = await createVitest(
  'test',
  { root, config: false, watch: false },
  {
    resolve: { tsconfigPaths: true },
    plugins: [
      {
        name: 'mutants',
        enforce: 'pre',
        transform(code, id) {
          const file = id.startsWith(`${root}/`) ? id.slice(root.length + 1) : id
          if (!/^(src|adapters)\/.*\.ts$/.test(file) || (current !== null && current.file !== file)) return null
          return { code: switchable(file, code, findMutants(file, code)), map: null }
        },
      },
    ],
    test: {
      globalSetup: ['test/harness/global-setup.ts'],
      setupFiles: ['scripts/mutants/setup.ts', 'test/harness/setup.ts'],
      include: ['test/**/*.test.ts'],
      maxWorkers: 1,
      testTimeout: 30_000,
      sequence: { sequencer: InOrder },
      reporters: [{}],
      silent: true,
      cache: false,
      // What is kept on disk would be taken for the source, by this process and by others.
      fsModuleCache: false,
    },
  },
)
await vitest.standalone()

process.on('message', (job: Job) => {
  run(job).then(
    (results) => process.send?.({ results }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })

async function run({ tests, isTogether, mutant }: Job): Promise<TestFileResult[]> {
  const project = vitest.getRootProject()
  for (const file of [current?.file, mutant?.file]) if (file !== undefined) vitest.invalidateFile(resolve(root, file))
  current = mutant
  vitest.config.bail = mutant === null ? 0 : 1
  project.config.bail = vitest.config.bail
  project.config.isolate = !isTogether
  project.provide('mutant', mutant)
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(
    tests.map((test) => project.createSpecification(resolve(root, test))),
  )
  const results = testModules.map((module): TestFileResult => {
    const failed = [...module.children.allTests('failed')][0]
    const failure = failed?.fullName ?? module.errors()[0]?.message
    return {
      test: module.relativeModuleId,
      ...(failure !== undefined && { failure }),
      ms: module.diagnostic().duration,
      hits: module.meta().mutants ?? {},
    }
  })
  const stray = unhandledErrors[0]
  const last = results.at(-1)
  if (stray !== undefined && last !== undefined && results.every(({ failure }) => failure === undefined))
    last.failure = stray instanceof Error ? stray.message : JSON.stringify(stray)
  return results
}

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mutant } from './find-mutants.ts'
import type { TestFileResult } from './runner.ts'
import type { Worker } from './worker.ts'

/** Everything that is kept between calls; deleting it loses time only. */
export const cacheFolder = 'node_modules/.cache/phi-mutants'

/** What one test file reaches, as it was when this was noted. */
interface Reach {
  /** Of the test file, of each source file that it reaches, and of `mutantsFile`. */
  hashes: Record<string, string>
  hits: Record<string, number[]>
  ms: number
  failure?: string
}

/** Tests in the order in which they are likely to find a fault. */
export interface CoveringTest {
  test: string
  ms: number
}

const testFilesPerJob = 8
/** What numbers the mutants: when it changes, nothing that was noted holds. */
export const mutantsFile = 'scripts/mutants/find-mutants.ts'

/** Which test files reach which mutants. What changed since it was last noted is run again. */
export class Coverage {
  readonly #reaches = new Map<string, Reach>()
  readonly #stale: string[]

  constructor(tests: readonly string[]) {
    this.#stale = tests.filter((test) => {
      const reach = readJson<Reach>(pathOf(test))
      if (reach === undefined || Object.entries(reach.hashes).some(([file, hash]) => hash !== hashOf(file))) return true
      this.#reaches.set(test, reach)
      return false
    })
  }

  /** Runs the tests of which it is not known what they reach. False: time ran out first. */
  async complete(worker: Worker, deadline: number, say: (line: string) => void): Promise<boolean> {
    while (this.#stale.length > 0) {
      if (Date.now() > deadline) return false
      const tests = this.#stale.splice(0, testFilesPerJob)
      say(`What do they reach? ${this.#stale.length + tests.length} test files to go: ${tests[0]} …`)
      const outcome = await worker.run({ tests, isTogether: false, mutant: null }, 600_000)
      if (outcome.type !== 'done') throw new Error(`${tests.join(', ')}: ${outcome.type === 'late' ? 'no end in 600 s' : outcome.message}`)
      for (const result of outcome.results) this.#note(result)
    }
    return true
  }

  /** Those that fail without a mutant find none. */
  failing(): [test: string, failure: string][] {
    return [...this.#reaches].flatMap(([test, { failure }]) => (failure === undefined ? [] : [[test, failure]]))
  }

  testsOf(mutant: Mutant): CoveringTest[] {
    return [...this.#reaches]
      .filter(([, { hits, failure }]) => failure === undefined && hits[mutant.file]?.includes(mutant.index))
      .map(([test, { ms }]) => ({ test, ms }))
      .sort((a, b) => nearness(b.test, mutant.file) - nearness(a.test, mutant.file) || a.ms - b.ms)
  }

  #note({ test, hits, ms, failure }: TestFileResult): void {
    const hashes = Object.fromEntries([mutantsFile, test, ...Object.keys(hits)].map((file) => [file, hashOf(file)]))
    const reach: Reach = { hashes, hits, ms, ...(failure !== undefined && { failure }) }
    this.#reaches.set(test, reach)
    const path = pathOf(test)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(reach))
  }
}

/** How many folders of the two paths are the same: `test/` mirrors the sources. */
function nearness(test: string, file: string): number {
  const folders = dirname(file)
    .split('/')
    .filter((folder) => folder !== 'src')
  const others = dirname(test).split('/').slice(1)
  const apart = folders.findIndex((folder, index) => folder !== others[index])
  return apart === -1 ? folders.length : apart
}

function pathOf(test: string): string {
  return join(cacheFolder, 'reach', `${test}.json`)
}

const hashes = new Map<string, string>()

/** Of the file as it was when this process first asked. */
export function hashOf(file: string): string {
  let hash = hashes.get(file)
  if (hash === undefined) {
    const content = readText(file) ?? ''
    hash = createHash('sha256').update(content).digest('base64url').slice(0, 16)
    hashes.set(file, hash)
  }
  return hash
}

function readJson<T>(path: string): T | undefined {
  const text = readText(path)
  return text === undefined ? undefined : JSON.parse(text)
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

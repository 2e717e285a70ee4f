/**
 * `npm run mutants [-- area…] [--sample 100] [--seed 1] [--seconds 40] [--minutes 10]`: puts small faults into the sources, one at a time
 * and in memory only, and tells which of them no test notices.
 *
 * An area is a folder or a file. A sample is taken of each; another seed takes another one. What is known is kept, so a call that was
 * stopped goes on where it was: a fault that was found counts until its file changes, one that was not until its tests do.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Coverage, type CoveringTest, cacheFolder, hashOf, mutantsFile, readText } from './mutants/coverage.ts'
import { findMutants, type Mutant } from './mutants/find-mutants.ts'
import { Worker } from './mutants/worker.ts'

/** `found`: a test failed, or came to no end. `unreached`: no test runs the place. */
type Fate = 'found' | 'survived' | 'unreached'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '60' },
  },
})
/** Which tests are asked about each area and what is in it: its own, and those of what is built on it. About anything else: all of them. */
const areas: Record<string, string> = {
  'src/loop': 'test/{loop,agent,context,options}',
  'src/context': 'test/{context,loop,options}',
  'src/providers/kit': 'test/{providers,options}',
  'src/session': 'test/{session,agent,rust}',
  'adapters/node/bash': 'test/{adapters/node,options}',
}
const deadline = Date.now() + Number(values.minutes) * 60_000

// They look at files, at dist or at other processes, where no mutant is.
const elsewhere =
  /^test\/(adapters\/cloudflare|adapters\/node\/session|browser|bench|harness|workers|examples|conformance|docs|scripts|[^/]+\.test\.ts$)/

const resultsPath = join(cacheFolder, 'fates.jsonl')
const fates = new Map(
  (readText(resultsPath) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): [string, Fate] => JSON.parse(line)),
)

const worker = new Worker()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    worker.end()
    process.exit(1)
  })
}
try {
  for (const area of positionals.length > 0 ? positionals : Object.keys(areas)) await testArea(area)
} finally {
  worker.end()
}

async function testArea(area: string): Promise<void> {
  const sample = sampleOf(area)
  const [, folders] = Object.entries(areas).find(([name]) => `${area}/`.startsWith(`${name}/`)) ?? []
  const tests = globSync(`${folders ?? 'test'}/**/*.test.ts`).filter((test) => !elsewhere.test(test))
  const coverage = new Coverage(tests.sort())
  worker.end() // what it compiled for the mutants of another area does not tell what is reached
  const isComplete = await coverage.complete(worker, deadline, console.log)
  for (const [test, failure] of coverage.failing()) console.log(`Not asked, because it fails without a mutant: ${test}: ${failure}`)
  const counts: Record<Fate, number> = { found: 0, survived: 0, unreached: 0 }
  for (const mutant of isComplete ? sample : []) {
    const covering = coverage.testsOf(mutant)
    const fate = known(mutant, covering) ?? (Date.now() < deadline ? await tryOut(mutant, covering) : undefined)
    if (fate === undefined) break
    counts[fate] += 1
    if (fate !== 'found') console.log(describe(mutant, fate))
  }
  const done = counts.found + counts.survived + counts.unreached
  const score = done === 0 ? '' : `: ${counts.found} found (${((100 * counts.found) / done).toFixed(1)} %), ${counts.survived} survived`
  const rest = done < sample.length ? '; time is up, the next call goes on here' : ''
  console.log(`${area}: ${done} of ${sample.length} mutants tried${score}, ${counts.unreached} unreached${rest}\n`)
}

/** The mutants of an area in an order that only the seed decides, cut to the sample. */
function sampleOf(area: string): Mutant[] {
  const files = area.endsWith('.ts') ? [area] : globSync(`${area}/**/*.ts`).sort()
  if (files.length === 0) throw new Error(`${area}: no TypeScript file is there; name a folder or a file of src or adapters`)
  const rank = ({ file, line, kind, index }: Mutant) =>
    createHash('sha256').update(`${values.seed} ${file} ${line} ${kind} ${index}`).digest('hex')
  return files
    .flatMap((file) => findMutants(file, readFileSync(file, 'utf8')))
    .map((mutant) => ({ mutant, rank: rank(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, Number(values.sample))
    .map(({ mutant }) => mutant)
}

async function tryOut(mutant: Mutant, covering: readonly CoveringTest[]): Promise<Fate> {
  const chosen = withinSeconds(covering)
  if (chosen.length === 0) return 'unreached'
  const fate: Fate = (await isFound(mutant, chosen)) ? 'found' : 'survived'
  const key = fate === 'found' ? keyOf(mutant) : keyOf(mutant, covering)
  fates.set(key, fate)
  mkdirSync(cacheFolder, { recursive: true })
  appendFileSync(resultsPath, `${JSON.stringify([key, fate])}\n`)
  return fate
}

/** Whether a test fails with `mutant`, or comes to no end. Where that may be the doing of the tests before it, it has to fail alone too. */
async function isFound({ file, index }: Mutant, covering: readonly CoveringTest[]): Promise<boolean> {
  const tests = covering.map(({ test }) => test)
  const timeoutMs = 20_000 + covering.reduce((sum, { ms }) => sum + 3 * (ms + 500), 0)
  const failed = async (isTogether: boolean): Promise<string | undefined> => {
    const outcome = await worker.run({ tests, isTogether, mutant: { file, index } }, timeoutMs)
    return outcome.type === 'done' ? outcome.results.find(({ failure }) => failure !== undefined)?.test : tests[0]
  }
  const test = await failed(true)
  return test !== undefined && (test === tests[0] || (await failed(false)) !== undefined)
}

/** As many tests as run in `--seconds` together, in their order; always one. */
function withinSeconds(covering: readonly CoveringTest[]): CoveringTest[] {
  const chosen = new Set<CoveringTest>()
  let left = Number(values.seconds) * 1000
  for (const test of covering.toSorted((a, b) => a.ms - b.ms)) {
    left -= test.ms
    if (left >= 0 || chosen.size === 0) chosen.add(test)
  }
  return covering.filter((test) => chosen.has(test))
}

function known(mutant: Mutant, covering: readonly CoveringTest[]): Fate | undefined {
  return fates.get(keyOf(mutant)) ?? fates.get(keyOf(mutant, covering))
}

function keyOf({ file, index }: Mutant, covering: readonly CoveringTest[] = []): string {
  const of = [mutantsFile, file, ...covering.map(({ test }) => test).sort()].map(hashOf).join()
  return `${file}#${index}@${createHash('sha256').update(of).digest('base64url').slice(0, 16)}`
}

function describe({ file, line, kind, original, replacement, form }: Mutant, fate: Fate): string {
  const [removed, added] = [original, form === 'statement' || form === 'property' || form === 'element' ? '' : replacement].map(shorten)
  return `${file}:${line}  ${kind}, ${fate}\n  - ${removed}\n${added === '' ? '' : `  + ${added}\n`}`
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}

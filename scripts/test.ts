/**
 * `npm test`: the checks, because failures are cheapest to read there, then the suites, some side by side. A failing suite does not stop the
 * others. Each is printed when it is done. The last line is `N passed, N failed`, summed over all of it.
 *
 * `npm run test:all` (`--all`) adds what takes longer: all runtimes and browsers, packing, bundlers, frameworks.
 * `npm run test:all -- --rest` runs only what `npm test` left out, and adds the counts of the last `npm test` to its last line.
 * `npm run test:all -- --only webkit` builds, and runs the suites whose names contain that word.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from './browsers/chromium.ts'
import { installPackages, missingPackages, packagesToInstall } from './system-packages.ts'
import { countStep, type Outcome } from './test/count-step.ts'
import { type Count, noTests } from './test/junit.ts'
import { builds, furtherLanes, type Lanes, preparations, type Step, testLanes } from './test/steps.ts'

type Sum = Pick<Count, 'passed' | 'failed'>

/** The counts of the last `npm test` in this checkout, for `--rest`. */
const countsFile = 'node_modules/.cache/phi-test/counts.json'

/** Installs what is missing, if the machine allows that without asking. A failure counts as one test. */
function prepare(): Count {
  const packages = packagesToInstall()
  if (packages.length === 0) return noTests()
  console.log(`Installing ${packages.map(({ name }) => name).join(', ')} with apt-get`)
  try {
    installPackages(packages)
    return { ...noTests(), passed: 1 }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return { ...noTests(), failed: 1 }
  }
}

/** Runs steps side by side. */
const runChecks = (steps: readonly Step[], folder: string): Promise<Outcome[]> => Promise.all(steps.map((step) => countStep(step, folder)))

/** Runs lanes side by side, and the steps of each in turn. The outcomes are in the order of the table. */
async function runLanes(lanes: Lanes, folder: string, canRun: (step: Step) => boolean): Promise<Outcome[]> {
  const runLane = async (lane: readonly Step[]): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    for (const step of lane) if (canRun(step)) outcomes.push(await countStep(step, folder))
    return outcomes
  }
  return (await Promise.all(lanes.map(runLane))).flat()
}

/** The last lines about one step. */
function linesOf({ step, count, flaky, seconds, notices }: Outcome): string[] {
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
  return [
    `${step.name}: ${count.passed} passed, ${count.failed} failed${skipped} (${seconds.toFixed(1)} s)`,
    ...count.failures.map(({ file, name }) => `  FAILED ${file}: ${name}`),
    ...flaky.map(({ file, name }) => `  FLAKY, passed when it ran again: ${file}: ${name}`),
    ...notices,
  ]
}

/** What `--rest` adds to its own counts. */
function countsOfTest(): Sum {
  if (existsSync(countsFile)) return JSON.parse(readFileSync(countsFile, 'utf8'))
  console.error('--rest adds to the counts of npm test, and there are none in this checkout. Run npm test first, or leave --rest out.')
  process.exit(2)
}

function keepCounts(sum: Sum): void {
  mkdirSync(dirname(countsFile), { recursive: true })
  writeFileSync(countsFile, JSON.stringify(sum))
}

/** Which steps a call runs. */
interface Choice {
  all: boolean
  rest: boolean
  only?: string
}

async function runRings({ all, rest, only }: Choice, folder: string, canRun: (step: Step) => boolean): Promise<Outcome[]> {
  const chosen = (step: Step): boolean => canRun(step) && (only === undefined || step.name.toLowerCase().includes(only.toLowerCase()))
  const checked = rest ? [] : await runChecks(only === undefined ? preparations : builds, folder)
  if (checked.some(({ step, count }) => step.isPrecondition && count.failed > 0)) return checked
  const tested = rest ? [] : await runLanes(testLanes, folder, chosen)
  return [...checked, ...tested, ...(all ? await runLanes(furtherLanes, folder, chosen) : [])]
}

const flags = { all: { type: 'boolean', default: false }, rest: { type: 'boolean', default: false }, only: { type: 'string' } } as const

async function main(): Promise<void> {
  const { values } = parseArgs({ options: flags })
  const started = performance.now()
  const seconds = (): string => ((performance.now() - started) / 1000).toFixed(1)
  const before = values.rest ? countsOfTest() : { passed: 0, failed: 0 }
  rmSync(countsFile, { force: true })
  const chromium = await findChromium().then(({ from }) => from, String)
  const hasChromium = !chromium.startsWith('Error')
  console.log(`Node ${process.version}; Chromium from ${chromium}`)
  const prepared = prepare()
  const lines = prepared.passed + prepared.failed === 0 ? [] : [`system packages: ${prepared.failed} failed (${seconds()} s)`]
  const missing = missingPackages()
  const canRun = ({ needs, needsChromium = false }: Step): boolean => {
    return (hasChromium || !needsChromium) && !missing.some(({ name }) => needs?.includes(name))
  }
  const folder = mkdtempSync(join(tmpdir(), 'phi-test-'))
  const outcomes = await runRings(values, folder, canRun)
  rmSync(folder, { recursive: true, force: true })
  lines.push(...outcomes.flatMap(linesOf))
  if (!hasChromium) lines.push(`NOT RUN: tests in Chromium: ${chromium}`)
  for (const { name, neededFor } of missing) lines.push(`NOT RUN: ${neededFor}: package ${name} is missing (apt-get install ${name})`)
  console.log(`\n${lines.join('\n')}\n${seconds()} s in all`)
  const counts = [before, prepared, ...outcomes.map(({ count }) => count)]
  const sum = (key: keyof Sum): number => counts.reduce((total, count) => total + count[key], 0)
  const total = { passed: sum('passed'), failed: sum('failed') }
  if (!values.all && values.only === undefined) keepCounts(total)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

await main()

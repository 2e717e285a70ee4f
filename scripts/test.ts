/**
 * `npm test`: everything. The checks first, because failures are cheapest to read there; then the suites, some side by side. A failing suite
 * does not stop the others. Each is printed when it is done. The last line is `N passed, N failed`, summed over all of it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium } from './browsers/chromium.ts'
import { installPackages, missingPackages, packagesToInstall } from './system-packages.ts'
import { countStep, type Outcome } from './test/count-step.ts'
import { type Count, noTests } from './test/junit.ts'
import { checks, lanes, type Step } from './test/steps.ts'

/** Installs what is missing where that is done without asking. A failure counts as one test. */
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

/** The checks, and the suites unless they would mean nothing. The outcomes are in the order of the table. */
async function runSteps(folder: string, canRun: (step: Step) => boolean): Promise<Outcome[]> {
  const checked = await Promise.all(checks.map((step) => countStep(step, folder)))
  if (checked.some(({ step, count }) => step.isPrecondition && count.failed > 0)) return checked
  const runLane = async (lane: readonly Step[]): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    for (const step of lane) if (canRun(step)) outcomes.push(await countStep(step, folder))
    return outcomes
  }
  return [...checked, ...(await Promise.all(lanes.map(runLane))).flat()]
}

/** What one step came to, for the last lines. */
function linesOf({ step, count, unstable, seconds, notices }: Outcome): string[] {
  const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
  return [
    `${step.name}: ${count.passed} passed, ${count.failed} failed${skipped} (${seconds.toFixed(1)} s)`,
    ...count.failures.map(({ file, name }) => `  FAILED ${file}: ${name}`),
    ...unstable.map(({ file, name }) => `  UNSTABLE, passed when it was run again: ${file}: ${name}`),
    ...notices,
  ]
}

async function main(): Promise<void> {
  const started = performance.now()
  const seconds = (): string => ((performance.now() - started) / 1000).toFixed(1)
  console.log(`Node ${process.version}; Chromium from ${await findChromium().then((found) => found.from, String)}`)
  const prepared = prepare()
  const lines = prepared.passed + prepared.failed === 0 ? [] : [`system packages: ${prepared.failed} failed (${seconds()} s)`]
  const missing = missingPackages()
  const folder = mkdtempSync(join(tmpdir(), 'phi-test-'))
  const outcomes = await runSteps(folder, ({ needs }) => !missing.some(({ name }) => needs?.includes(name)))
  rmSync(folder, { recursive: true, force: true })
  lines.push(...outcomes.flatMap(linesOf))
  for (const { name, neededFor } of missing) lines.push(`NOT RUN: ${neededFor}: package ${name} is missing (apt-get install ${name})`)
  console.log(`\n${lines.join('\n')}\n${seconds()} s in all`)
  const counts = [prepared, ...outcomes.map(({ count }) => count)]
  const sum = (key: 'passed' | 'failed'): number => counts.reduce((total, count) => total + count[key], 0)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  process.exitCode = sum('failed') > 0 ? 1 : 0
}

await main()

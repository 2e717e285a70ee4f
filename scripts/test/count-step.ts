import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Count, countJunit, type Failure, noTests } from './junit.ts'
import { runCommand } from './run-command.ts'
import type { Step } from './steps.ts'

/** The result of a step. */
export interface Outcome {
  step: Step
  count: Count
  /** Tests that failed, and passed when they ran again. */
  flaky: Failure[]
  seconds: number
  /** Lines of its output that the end repeats: what could not be tried. */
  notices: string[]
}

/** More failures than this are no accident of the machine. */
const maxFlaky = 3

/**
 * Runs a step, then prints its output. A few tests that fail run once more, to tell a flaky test from a broken one. A flaky test counts as
 * failed under `CI=true`, and as passed elsewhere.
 */
export async function countStep(step: Step, folder: string): Promise<Outcome> {
  const started = performance.now()
  const { count, notices } = await runOnce(step, folder)
  const { failures } = count
  const outcome = (counted: Count, flaky: Failure[]): Outcome => {
    return { step, count: counted, flaky, seconds: (performance.now() - started) / 1000, notices }
  }
  if (failures.length === 0 || failures.length > maxFlaky || failures.length < count.failed) return outcome(count, [])
  const again = await runOnce(step, folder, failures)
  if (again.count.failed > 0) return outcome(count, [])
  if (process.env.CI === 'true' && process.env.PHI_FLAKY !== 'warn') return outcome({ ...count, failures: [] }, failures)
  return outcome({ ...count, passed: count.passed + count.failed, failed: 0, failures: [] }, failures)
}

/** What a test or a check writes at the beginning of a line if it could not do its part. */
const notice = /^NOT (?:RUN|REACHABLE): .*/gm

/** Runs all of a step, or the failed tests of it if they are given. */
async function runOnce(step: Step, folder: string, failed: readonly Failure[] = []): Promise<Pick<Outcome, 'count' | 'notices'>> {
  const { junit, commands } = step
  const report = join(folder, `${step.name.replace(/\W+/g, '-')}.xml`)
  rmSync(report, { force: true })
  const flags = junit ? [...(failed.length > 0 ? junit.again(failed) : []), ...junit.flags(report)] : []
  let written = ''
  let exitCode = 0
  for (const command of commands) {
    const run = await runCommand([...command, ...flags], { ...step.env, ...junit?.env?.(report) })
    written += run.output
    exitCode = run.exitCode
    if (exitCode !== 0) break
  }
  const why = failed.length > 0 ? `, once more, because ${failed.length} failed: ${failed.map(({ name }) => name).join('; ')}` : ''
  console.log(`\n── ${step.name}${why}: ${commands.map((command) => command.join(' ')).join(' && ')}\n${written.trimEnd()}`)
  return { count: counted(step, exitCode, junit ? report : undefined), notices: written.match(notice) ?? [] }
}

/** A runner that fails without naming a test, or that ran none, counts as one failure. */
function counted(step: Step, exitCode: number, report?: string): Count {
  if (report === undefined) return exitCode === 0 ? { ...noTests(), passed: 1 } : { ...noTests(), failed: 1 }
  const count = existsSync(report) ? countJunit(readFileSync(report, 'utf8')) : noTests()
  if (exitCode !== 0 && count.failed === 0) return { ...count, failed: 1 }
  if (count.passed + count.failed === 0) {
    console.error(`${step.name}: no test ran.`)
    return { ...count, failed: 1 }
  }
  return count
}

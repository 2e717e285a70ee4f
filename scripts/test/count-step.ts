import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Count, countJunit, type Failure, noTests } from './junit.ts'
import { runCommand } from './run-command.ts'
import type { Step } from './steps.ts'

/** What became of a step. */
export interface Outcome {
  step: Step
  count: Count
  /** What failed, and passed when it was run again. */
  unstable: Failure[]
  seconds: number
  /** Lines of what it wrote that the end repeats: what could not be tried. */
  notices: string[]
}

/** More failures than this are no accident of the machine. */
const maxUnstable = 3

/** Runs a step, then prints what it wrote. A few tests that fail are run once more; those that then pass are counted as passed. */
export async function countStep(step: Step, folder: string): Promise<Outcome> {
  const started = performance.now()
  const { count, notices } = await runOnce(step, folder)
  const { failures } = count
  const outcome = (counted: Count, unstable: Failure[]): Outcome => {
    return { step, count: counted, unstable, seconds: (performance.now() - started) / 1000, notices }
  }
  if (failures.length === 0 || failures.length > maxUnstable || failures.length < count.failed) return outcome(count, [])
  const again = await runOnce(step, folder, failures)
  if (again.count.failed > 0) return outcome(count, [])
  return outcome({ ...count, passed: count.passed + count.failed, failed: 0, failures: [] }, failures)
}

/** What a test or a check writes at the beginning of a line where it could not do its part. */
const notice = /^NOT (?:RUN|REACHABLE): .*/gm

/** One run of it, of what failed where that is given. */
async function runOnce(step: Step, folder: string, failed: readonly Failure[] = []): Promise<Pick<Outcome, 'count' | 'notices'>> {
  const { junit, command } = step
  const report = join(folder, `${step.name.replace(/\W+/g, '-')}.xml`)
  rmSync(report, { force: true })
  const flags = junit ? [...(failed.length > 0 ? junit.again(failed) : []), ...junit.flags(report)] : []
  const { exitCode, output } = await runCommand([...command, ...flags], { ...step.env, ...junit?.env?.(report) })
  const why = failed.length > 0 ? `, once more, because ${failed.length} failed: ${failed.map(({ name }) => name).join('; ')}` : ''
  console.log(`\n── ${step.name}${why}: ${command.join(' ')}\n${output.trimEnd()}`)
  return { count: counted(step, exitCode, junit ? report : undefined), notices: output.match(notice) ?? [] }
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

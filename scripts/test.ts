/**
 * `npm test`: everything, in the order in which failures are cheapest to read. A failing suite does not stop the others; a failing type
 * check or build does, because nothing after it would mean anything. The last line is `N passed, N failed`, summed over all of it.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { findChromium } from './chromium.ts'
import { type Count, countJunit, noTests } from './junit.ts'
import { installPackages, missingPackages, type PackageName, packagesToInstall } from './system-packages.ts'

interface Step {
  name: string
  command: string[]
  /** The step counts its tests in a JUnit file: how to ask for one at `path`. Without it the step is one test. */
  junit?: (path: string) => { flags?: string[]; env?: Record<string, string> }
  /** The flags that run only these test files again; without it the whole step is run again. */
  only?: (files: readonly string[]) => string[]
  /** Nothing after it makes sense when it fails. */
  isPrecondition?: boolean
  /** The step is left out where one of these Debian packages is missing. */
  needs?: PackageName[]
}

const stepTimeoutMs = 1_500_000

const webKit: PackageName[] = ['webkit2gtk-driver', 'xvfb']

const vitest = (name: string, project: string): Step => ({
  name,
  command: ['vitest', 'run', '--project', project],
  junit: (path) => ({ flags: ['--reporter=default', '--reporter=junit', `--outputFile.junit=${path}`] }),
  only: (files) => [...files],
})

const playground = (name: string, browser: string): Step => ({
  name,
  command: ['playwright', 'test', '-c', 'e2e/playwright.config.ts'],
  junit: (path) => ({ flags: ['--reporter=list,junit'], env: { PLAYWRIGHT_JUNIT_OUTPUT_FILE: path, PHI_BROWSER: browser } }),
})

const denoFlags = [
  '--no-check',
  '--allow-net=127.0.0.1',
  '--allow-env',
  `--allow-read=.,${tmpdir()}`,
  `--allow-write=${tmpdir()}`,
  '--v8-flags=--disallow-code-generation-from-strings',
]

const steps: Step[] = [
  { name: 'type check', command: ['npm', 'run', '--silent', 'typecheck'], isPrecondition: true },
  { name: 'lint', command: ['biome', 'check', '.'] },
  { name: 'build', command: ['npm', 'run', '--silent', 'build'], isPrecondition: true },
  vitest('unit and contract tests in Node', 'node'),
  vitest('runtime suite in Chromium', 'chromium'),
  { ...vitest('runtime suite in Firefox', 'firefox'), needs: ['firefox-esr'] },
  { ...vitest('runtime suite in WebKit', 'webkit'), needs: webKit },
  vitest('runtime suite in workerd, Node compatibility off', 'workerd'),
  {
    name: 'runtime suite in Deno, code generation off',
    command: ['node', 'scripts/with-server.ts', 'deno', 'test', '--config', 'test/harness/deno.json', ...denoFlags],
    junit: (path) => ({ flags: [`--junit-path=${path}`, 'test/harness/deno.ts'] }),
  },
  {
    name: 'runtime suite in Bun',
    command: ['node', 'scripts/with-server.ts', 'bun', 'test', './test/shared', './test/adapters/node/session/file-session-store.test.ts'],
    junit: (path) => ({ flags: ['--reporter=junit', `--reporter-outfile=${path}`] }),
  },
  playground('end to end: the playground in Chromium', 'chromium'),
  { ...playground('end to end: the playground in Firefox', 'firefox'), needs: ['firefox-esr'] },
  { ...playground('end to end: the playground in WebKit', 'webkit'), needs: webKit },
]

/** Runs a command in a process group of its own, so that a step that hangs leaves nothing behind; resolves with its exit code. */
async function run(command: string[], env: Record<string, string>): Promise<number> {
  const [program = '', ...flags] = command
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const child = spawn(program, flags, {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
    env: { ...process.env, PATH: path, ...env },
  })
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // Nobody of the group is left.
    }
  }
  const onInterrupt = (): never => {
    kill()
    process.exit(130)
  }
  const timer = setTimeout(() => {
    console.error(`${program} was stopped after ${stepTimeoutMs / 1000} s.`)
    kill()
  }, stepTimeoutMs)
  process.once('SIGINT', onInterrupt)
  process.once('SIGTERM', onInterrupt)
  try {
    return await new Promise<number>((done, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => done(code ?? 1))
    })
  } finally {
    clearTimeout(timer)
    kill() // what the command started ends with it
    process.off('SIGINT', onInterrupt)
    process.off('SIGTERM', onInterrupt)
  }
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(1)

/** More failures than this are no accident of the machine. */
const maxUnstable = 3

/** One step's tests. A few that fail are run once more; those that then pass are counted as passed, and named. */
async function countStep(step: Step, folder: string): Promise<{ count: Count; unstable: Count['failures'] }> {
  const count = await runStep(step, folder)
  const { failures } = count
  if (failures.length === 0 || failures.length > maxUnstable || failures.length < count.failed) return { count, unstable: [] }
  console.log(`\n── once more, because ${failures.length} failed: ${failures.map(({ name }) => name).join('; ')}`)
  const again = await runStep(step, folder, step.only?.(failures.map(({ file }) => file)) ?? [])
  if (again.failed > 0) return { count, unstable: [] }
  return { count: { ...count, passed: count.passed + count.failed, failed: 0, failures: [] }, unstable: failures }
}

/** One run of it. A runner that fails without naming a test, or that ran none, counts as one failure. */
async function runStep(step: Step, folder: string, only: readonly string[] = []): Promise<Count> {
  const report = join(folder, 'junit.xml')
  rmSync(report, { force: true })
  const { flags = [], env = {} } = step.junit?.(report) ?? {}
  const exitCode = await run([...step.command, ...flags, ...only], env)
  if (!step.junit) return exitCode === 0 ? { ...noTests(), passed: 1 } : { ...noTests(), failed: 1 }
  const count = existsSync(report) ? countJunit(readFileSync(report, 'utf8')) : noTests()
  if (exitCode !== 0 && count.failed === 0) return { ...count, failed: 1 }
  if (count.passed + count.failed === 0) {
    console.error(`${step.name}: no test ran.`)
    return { ...count, failed: 1 }
  }
  return count
}

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

async function main(): Promise<void> {
  const started = performance.now()
  console.log(`Node ${process.version}; Chromium from ${await findChromium().then((found) => found.from, String)}`)
  const folder = mkdtempSync(join(tmpdir(), 'phi-test-'))
  const total = prepare()
  const lines = total.passed + total.failed === 0 ? [] : [`system packages: ${total.failed} failed (${seconds(started)} s)`]
  const missing = missingPackages()
  for (const step of steps) {
    if (missing.some(({ name }) => step.needs?.includes(name))) continue
    console.log(`\n── ${step.name}: ${step.command.join(' ')}`)
    const before = performance.now()
    const { count, unstable } = await countStep(step, folder)
    total.passed += count.passed
    total.failed += count.failed
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ''
    lines.push(
      `${step.name}: ${count.passed} passed, ${count.failed} failed${skipped} (${seconds(before)} s)`,
      ...count.failures.map(({ file, name }) => `  FAILED ${file}: ${name}`),
      ...unstable.map(({ file, name }) => `  UNSTABLE, passed when it was run again: ${file}: ${name}`),
    )
    if (step.isPrecondition && count.failed > 0) break
  }
  rmSync(folder, { recursive: true, force: true })
  for (const { name, neededFor } of missing) lines.push(`NOT RUN: ${neededFor}: package ${name} is missing (apt-get install ${name})`)
  console.log(`\n${lines.join('\n')}\n${seconds(started)} s in all`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 ? 1 : 0
}

await main()

import { tmpdir } from 'node:os'
import type { PackageName } from '../system-packages.ts'
import type { Failure } from './junit.ts'

/** One command of `npm test`. */
export interface Step {
  name: string
  command: string[]
  env?: Record<string, string>
  /** How it counts its tests in a JUnit file. Without it the step is one test. */
  junit?: JUnitReport
  /** The suites would mean nothing where it fails. */
  isPrecondition?: boolean
  /** The step is left out where one of these Debian packages is missing. */
  needs?: PackageName[]
}

interface JUnitReport {
  /** What asks for a report at `path`. */
  flags: (path: string) => string[]
  env?: (path: string) => Record<string, string>
  /** The flags that run again what failed, and as little else as the runner can. */
  again: (failures: readonly Failure[]) => string[]
}

const webKit: PackageName[] = ['webkit2gtk-driver', 'xvfb']

const vitest = (name: string, project: string): Step => ({
  name,
  command: ['vitest', 'run', '--project', project],
  junit: {
    flags: (path) => ['--reporter=default', '--reporter=junit', `--outputFile.junit=${path}`],
    again: (failures) => failures.map(({ file }) => file),
  },
})

const playground = (name: string, browser: string): Step => ({
  name,
  command: ['playwright', 'test', '-c', 'e2e/playwright.config.ts'],
  env: { PHI_BROWSER: browser, PHI_PLAYGROUND_BUILT: 'true' },
  junit: {
    flags: () => ['--reporter=list,junit'],
    env: (path) => ({ PLAYWRIGHT_JUNIT_OUTPUT_FILE: path }),
    again: () => ['--last-failed'],
  },
})

const denoFlags = [
  '--no-check',
  '--allow-net=127.0.0.1',
  '--allow-env',
  `--allow-read=.,${tmpdir()}`,
  `--allow-write=${tmpdir()}`,
  '--v8-flags=--disallow-code-generation-from-strings',
  'test/harness/deno.ts',
]

const bunTests = ['./test/shared', './test/adapters/node/session/file-session-store.test.ts']

/** A pattern of names that end like these. Reports and patterns join the names of groups with different signs. */
const anyOf = (failures: readonly Failure[]): string =>
  `(${failures.map(({ name }) => name.split(' > ').map(literal).join('( > | )')).join('|')})$`

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** They run side by side, before all else. */
export const checks: Step[] = [
  { name: 'type check', command: ['npm', 'run', '--silent', 'typecheck'], isPrecondition: true },
  { name: 'lint', command: ['biome', 'check', '.'] },
  { name: 'files and exports that nobody uses', command: ['npm', 'run', '--silent', 'check:unused'] },
  { name: 'licences and known vulnerabilities', command: ['npm', 'run', '--silent', 'check:supply'] },
  { name: 'build', command: ['npm', 'run', '--silent', 'build'], isPrecondition: true },
  {
    name: 'build of the playground',
    command: ['vite', 'build', 'playground', '-c', 'vite.config.ts', '--logLevel', 'warn'],
    isPrecondition: true,
  },
]

/**
 * The suites. A lane is run in its order, and the lanes side by side: while a browser waits for a scripted stream, the tests in Node
 * compute.
 */
export const lanes: Step[][] = [
  [vitest('unit and contract tests in Node', 'node')],
  [
    playground('end to end: the playground in Chromium', 'chromium'),
    { ...playground('end to end: the playground in WebKit', 'webkit'), needs: webKit },
    { ...playground('end to end: the playground in Firefox', 'firefox'), needs: ['firefox-esr'] },
  ],
  [
    vitest('runtime suite in Chromium', 'chromium'),
    { ...vitest('runtime suite in Firefox', 'firefox'), needs: ['firefox-esr'] },
    { ...vitest('runtime suite in WebKit', 'webkit'), needs: webKit },
    vitest('runtime suite in workerd, Node compatibility off', 'workerd'),
    {
      name: 'runtime suite in Deno, code generation off',
      command: ['node', 'scripts/with-server.ts', 'deno', 'test', '--config', 'test/harness/deno.json'],
      junit: {
        flags: (path) => [`--junit-path=${path}`, ...denoFlags],
        again: (failures) => [`--filter=/${anyOf(failures)}/`],
      },
    },
    {
      name: 'runtime suite in Bun',
      command: ['node', 'scripts/with-server.ts', 'bun', 'test', '--timeout', '120000', ...bunTests],
      junit: {
        flags: (path) => ['--reporter=junit', `--reporter-outfile=${path}`],
        again: (failures) => ['--test-name-pattern', anyOf(failures)],
      },
    },
  ],
]

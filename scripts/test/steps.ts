import { tmpdir } from 'node:os'
import { smokeFiles } from '../../test/harness/shared-files.ts'
import { type CheckName, checks } from '../checks.ts'
import type { PackageName } from '../system-packages.ts'
import type { Failure } from './junit.ts'

/** One step of a ring: commands that run one after the other. */
export interface Step {
  name: string
  commands: readonly (readonly string[])[]
  env?: Record<string, string>
  /** How it counts its tests in a JUnit file. Without it the step is one test. */
  junit?: JUnitReport
  /** The suites would mean nothing if it fails. */
  isPrecondition?: boolean
  /** The step is left out if one of these Debian packages is missing. */
  needs?: PackageName[]
  /** The step is left out if no Chromium is found. */
  needsChromium?: boolean
}

interface JUnitReport {
  /** What asks for a report at `path`. */
  flags: (path: string) => string[]
  env?: (path: string) => Record<string, string>
  /** The flags that run the failed tests again, and as little else as the runner can. */
  again: (failures: readonly Failure[]) => string[]
}

/** Steps of a lane run in their order. Lanes run side by side. */
export type Lanes = readonly (readonly Step[])[]

const webKit: PackageName[] = ['webkit2gtk-driver', 'xvfb']

const vitest = (name: string, project: string): Step => ({
  name,
  commands: [['vitest', 'run', '--project', project]],
  junit: {
    flags: (path) => ['--reporter=default', '--reporter=junit', `--outputFile.junit=${path}`],
    again: (failures) => failures.map(({ file }) => file),
  },
})

/** The stories of the playground in one browser; in Chromium the main ones, or the rest. */
const stories = (name: string, browser: string, env: Record<string, string> = {}): Step => ({
  name,
  commands: [['playwright', 'test', '-c', 'e2e/playwright.config.ts']],
  env: { PHI_BROWSER: browser, PHI_PLAYGROUND_BUILT: 'true', ...env },
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

/** A pattern of names that end like these. Reports and patterns join the names of groups with different signs. */
const anyOf = (failures: readonly Failure[]): string =>
  `(${failures.map(({ name }) => name.split(' > ').map(literal).join('( > | )')).join('|')})$`

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

const deno = (name: string): Step => ({
  name,
  commands: [['node', 'scripts/with-server.ts', 'deno', 'test', '--config', 'test/harness/deno.json']],
  junit: {
    flags: (path) => [`--junit-path=${path}`, ...denoFlags],
    again: (failures) => [`--filter=/${anyOf(failures)}/`],
  },
})

const bun = (name: string, files: readonly string[]): Step => ({
  name,
  commands: [['node', 'scripts/with-server.ts', 'bun', 'test', '--timeout', '120000', ...files]],
  junit: {
    flags: (path) => ['--reporter=junit', `--reporter-outfile=${path}`],
    again: (failures) => ['--test-name-pattern', anyOf(failures)],
  },
})

/** A step that tries little in a runtime: about 30 tests of what differs between runtimes. */
const smoke = (step: Step): Step => ({ ...step, env: { ...step.env, PHI_SMOKE: 'true' } })

const check = (name: CheckName): Step => ({ name: checks[name].title, commands: checks[name].commands })

/** What the suites look at. */
export const builds: readonly Step[] = [
  { name: 'build', commands: [['npm', 'run', '--silent', 'build']], isPrecondition: true },
  {
    name: 'build of the playground',
    commands: [['vite', 'build', 'playground', '-c', 'vite.config.ts', '--logLevel', 'warn']],
    isPrecondition: true,
  },
]

/** They run side by side, before all else. */
export const preparations: readonly Step[] = [
  { ...check('types'), isPrecondition: true },
  check('lint'),
  check('unused'),
  check('supply'),
  check('commits'),
  ...builds,
]

/** The suites of `npm test`. While a browser waits for a scripted stream, the tests in Node compute. */
export const testLanes: Lanes = [
  [vitest('unit and contract tests in Node', 'node')],
  [
    { ...stories('main stories of the playground in Chromium', 'chromium', { PHI_STORIES: 'main' }), needsChromium: true },
    { ...vitest('runtime suite in Chromium', 'chromium'), needsChromium: true },
    smoke(vitest('smoke in workerd, Node compatibility off', 'workerd')),
    smoke(deno('smoke in Deno, code generation off')),
    smoke(
      bun(
        'smoke in Bun',
        smokeFiles.map((path) => `./${path}`),
      ),
    ),
  ],
]

/** What `npm run test:all` adds. */
export const furtherLanes: Lanes = [
  [
    vitest('package, bundlers, platforms, conformance suites of others', 'package'),
    { name: 'production builds of frameworks', commands: [['node', 'scripts/frameworks.ts']] },
  ],
  [
    { ...stories('all other stories in Chromium', 'chromium', { PHI_STORIES: 'rest' }), needsChromium: true },
    { ...stories('stories in WebKit', 'webkit'), needs: webKit },
    { ...stories('stories in Firefox', 'firefox'), needs: ['firefox-esr'] },
  ],
  [
    { ...vitest('runtime suite in Firefox', 'firefox'), needs: ['firefox-esr'] },
    { ...vitest('runtime suite in WebKit', 'webkit'), needs: webKit },
    vitest('runtime suite in workerd, Node compatibility off', 'workerd'),
    deno('runtime suite in Deno, code generation off'),
    bun('runtime suite in Bun', ['./test/shared', './test/adapters/node/session/file-session-store.test.ts']),
  ],
]

/**
 * The programs without which tests of the sandbox are skipped. As root on Debian and its like they are installed, and this says so; elsewhere
 * the lines that this resolves with name what was skipped, and what is missing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

interface NeededProgram {
  /** Where the tools look for it (`adapters/node/policy/programs.ts`), and how Debian calls it. */
  command: string
  package: string
  /** What is not tested without it. */
  guards: string
}

const needed: NeededProgram[] = [
  { command: 'bwrap', package: 'bubblewrap', guards: 'the tests of the bash sandbox' },
  { command: 'rg', package: 'ripgrep', guards: 'the tests of search with ripgrep' },
]

const isHere = ({ command }: NeededProgram): boolean =>
  ['/usr/bin', '/bin', '/usr/local/bin'].some((directory) => existsSync(`${directory}/${command}`))

/** Installs what is missing where that is possible; returns a line for each program that still is. */
export function installSandboxPrograms(): string[] {
  if (process.platform !== 'linux') return ['SKIPPED: the tests of the bash sandbox: bubblewrap exists on Linux only']
  const missing = needed.filter((program) => !isHere(program))
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) install(missing.map((program) => program.package))
  return needed
    .filter((program) => !isHere(program))
    .map(({ guards, package: name }) => `SKIPPED: ${guards}: package ${name} is missing (apt-get install ${name})`)
}

function install(packages: readonly string[]): void {
  console.log(`Installing ${packages.join(' and ')} with apt-get: without them tests are skipped.`)
  const get = (...args: string[]) =>
    spawnSync('/usr/bin/apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 180_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0
  const installed = () => get('install', '-y', '--no-install-recommends', ...packages)
  // Lists of packages may be missing in a fresh container, and are good enough elsewhere.
  const done = installed() || (get('update') && installed())
  console.log(done ? `Installed ${packages.join(' and ')}.` : `apt-get could not install ${packages.join(' and ')}.`)
}

/**
 * What the tests need that npm cannot install: Debian packages. As root on Debian `npm test` installs the small ones, and under `CI=true` the
 * browsers too. Elsewhere the tests use what is there, and its last lines say what was not run for want of which package.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findFirefox, findMiniBrowser, findWebKitDriver, findXvfb } from './browsers/find.ts'

/** As apt-get calls them. */
export type PackageName = 'bubblewrap' | 'ripgrep' | 'postgresql' | 'redis-server' | 'firefox-esr' | 'webkit2gtk-driver' | 'xvfb'

export interface SystemPackage {
  name: PackageName
  isThere: () => boolean
  /** What is not run without it. */
  neededFor: string
  /** Too large to install on a person's machine without asking, or starts a service there. */
  isLarge?: boolean
}

/** Every package, in the order in which the last lines of `npm test` name them. */
const systemPackages: readonly SystemPackage[] = [
  { name: 'bubblewrap', isThere: () => isInSystem('bwrap'), neededFor: 'tests of the bash sandbox' },
  { name: 'ripgrep', isThere: () => isInSystem('rg'), neededFor: 'tests of search with ripgrep' },
  { name: 'postgresql', isThere: () => existsSync('/usr/lib/postgresql'), neededFor: 'tests of sessions in PostgreSQL', isLarge: true },
  { name: 'redis-server', isThere: () => isInSystem('redis-server'), neededFor: 'tests of sessions in Redis', isLarge: true },
  { name: 'firefox-esr', isThere: () => findFirefox() !== undefined, neededFor: 'tests in Firefox', isLarge: true },
  {
    name: 'webkit2gtk-driver',
    isThere: () => findWebKitDriver() !== undefined && findMiniBrowser() !== undefined,
    neededFor: 'tests in WebKit',
    isLarge: true,
  },
  { name: 'xvfb', isThere: () => findXvfb() !== undefined, neededFor: 'tests in WebKit', isLarge: true },
]

/** The tools look nowhere else, so that nobody plants a program for them. */
const isInSystem = (program: string): boolean => ['/usr/bin', '/bin', '/usr/local/bin'].some((folder) => existsSync(`${folder}/${program}`))

export function missingPackages(): SystemPackage[] {
  return systemPackages.filter(({ isThere }) => !isThere())
}

/** What `npm test` installs on this machine before it begins. */
export function packagesToInstall(): SystemPackage[] {
  const mayInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  return mayInstall ? missingPackages().filter(({ isLarge = false }) => !isLarge || process.env.CI === 'true') : []
}

/** Installs packages with apt-get; throws when it fails, with what it wrote on stderr. */
export function installPackages(packages: readonly SystemPackage[]): void {
  const aptGet = (...flags: string[]): void => {
    execFileSync('apt-get', ['-qq', '-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=120', ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      timeout: 300_000,
    })
  }
  aptGet('update')
  aptGet('install', '-y', '--no-install-recommends', ...packages.map(({ name }) => name))
}

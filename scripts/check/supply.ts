/**
 * `npm run check supply`: fails for a package with a known vulnerability, or with a licence that is not on our list, among those that end in what is
 * published: the dependencies of the package, and what is bundled into the playground and the command. Where the registry does not answer, it says `NOT REACHABLE`, and
 * licences are checked all the same: they stand in the lock file.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { importedPackages, type LockedPackages, licenceFaults, publishedPackages, readAudit } from './supply-rules.ts'

const { packages }: { packages: LockedPackages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const own = Object.keys(packages['']?.dependencies ?? {})
const bundled = globSync(['playground/**/*.{ts,tsx}', 'adapters/node/cli/render/code-colours.ts'])
const published = publishedPackages(packages, [...own, ...importedPackages(bundled.map((path) => readFileSync(path, 'utf8')))])

/** Not `--omit=dev`: what is bundled is a development dependency. */
function audit(): string[] {
  const { stdout, error } = spawnSync('npm', ['audit', '--json'], {
    encoding: 'utf8',
    timeout: 60_000,
    shell: process.platform === 'win32',
  })
  const outcome = error === undefined ? readAudit(stdout, published) : { unreachable: error.message }
  if ('faults' in outcome) return outcome.faults
  const why = outcome.unreachable.replace(/https?:\/\/\S+/g, 'the registry')
  console.warn(`NOT REACHABLE: npm audit: nobody knows whether packages that are published have known vulnerabilities (${why})`)
  return []
}

const faults = [...licenceFaults(packages, published), ...audit()]
for (const fault of faults) console.error(fault)
console.log(`${published.size} packages are published with ours: ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0

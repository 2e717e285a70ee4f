import { globSync, statSync } from 'node:fs'

/** Throws unless `dist` was built from the sources as they are. Tests do not build: others read `dist` while they run. */
export function assertFreshBuild(): void {
  const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const newest = Math.max(...globSync('{src,adapters}/**/*.ts').map(changed))
  if (changed('dist/index.js') < newest) throw new Error('dist is older than src or adapters. Run `npm run build` first.')
}

import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isWithin } from './programs.ts'

const lockFiles: readonly string[] = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb', 'deno.lock'],
  ...['.pnp.cjs', '.pnp.loader.mjs'],
]

/** Names for parts of the running package. `unprotected` accepts them in addition to the protected names. */
export const runningNames: readonly string[] = [...lockFiles, 'adapters', 'dist', 'node_modules', 'package.json', 'src']

/**
 * Returns the real paths in `root` that belong to the running package: its code, the `node_modules` with its dependencies, the lock files
 * next to them, and the program that runs it. Empty if the package is installed outside `root`.
 *
 * Changing these files would run code outside the sandbox, in this or a later process.
 */
export function runningPaths(root: string): string[] {
  // Undefined if a bundler merged everything into one script.
  const here: string | undefined = import.meta.dirname
  if (here === undefined) return []
  const code = realpathSync(here)
  const home = packageOf(code)
  const found = [...codeOf(home, code, root), realpathSync(process.execPath)]
  for (let directory = home; isWithin(root, directory); directory = dirname(directory)) {
    found.push(...['node_modules', ...lockFiles].map((name) => join(directory, name)).filter((path) => existsSync(path)))
    if (directory === root) break
  }
  const inside = [...new Set(found)].filter((path) => path !== root && isWithin(root, path))
  return inside.filter((path) => !inside.some((other) => other !== path && isWithin(other, path)))
}

/** Returns the nearest parent directory with a `package.json`. */
function packageOf(directory: string): string {
  let at = directory
  while (!existsSync(join(at, 'package.json')) && dirname(at) !== at) at = dirname(at)
  return at
}

/** Returns the whole package if it is part of the workspace, or the executed directories if it is the workspace itself. */
function codeOf(home: string, code: string, root: string): string[] {
  if (home !== root && isWithin(root, home)) return [home]
  const [top = ''] = relative(home, code).split(sep)
  if (top === '') return [code]
  return [top, ...(top === 'adapters' ? ['src'] : []), 'package.json'].map((name) => join(home, name))
}

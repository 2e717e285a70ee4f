import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { isWithin } from './programs.ts'

const lockFiles: readonly string[] = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb', 'deno.lock'],
  ...['.pnp.cjs', '.pnp.loader.mjs'],
]

/** Names that `unprotected` may allow in addition to the protected ones: parts of the running package. */
export const runningNames: readonly string[] = [...lockFiles, 'adapters', 'dist', 'node_modules', 'package.json', 'src']

/**
 * Returns the parts of `root` that belong to the running package: its code, the `node_modules` with its dependencies, the lock files next to
 * them, and the program that runs it. Real paths; none when it is installed elsewhere.
 *
 * A change there would run code outside of every sandbox, in this process or the next one.
 */
export function runningPaths(root: string): string[] {
  // Undefined where a bundler made one script of everything.
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

/** The nearest directory above with a `package.json`. */
function packageOf(directory: string): string {
  let at = directory
  while (!existsSync(join(at, 'package.json')) && dirname(at) !== at) at = dirname(at)
  return at
}

/** The whole package if it is a part of the workspace; if it is the workspace itself, the directories that run. */
function codeOf(home: string, code: string, root: string): string[] {
  if (home !== root && isWithin(root, home)) return [home]
  const [top = ''] = relative(home, code).split(sep)
  if (top === '') return [code]
  return [top, ...(top === 'adapters' ? ['src'] : []), 'package.json'].map((name) => join(home, name))
}

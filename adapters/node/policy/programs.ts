import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { aText, options, type Shape } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'

/** Host programs of tools, as absolute paths. Default: the first one in the system directories. */
export interface HostPrograms {
  /** The sandbox, bubblewrap. */
  bwrap?: string
  /** The shell of `sandbox: 'none'`. */
  bash?: string
  /** Search, ripgrep. */
  rg?: string
}

export const hostPrograms: Shape = options<HostPrograms>({ bwrap: aText, bash: aText, rg: aText })

/** Timeout in milliseconds for testing a program once. */
export const trialMs = 10_000

// Only the system's administrator (on macOS: the owner of Homebrew) puts programs there. Never PATH: `npm run` puts a directory of the
// workspace first, and the commands of an agent can write to it.
const systemDirectories: readonly string[] = [
  ...['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'],
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin', '/opt/local/bin'] : []),
]

/** These as a PATH: for programs of ours that look for others. */
export const systemPath: string = systemDirectories.join(':')

/**
 * Returns the real path of the program `name`: `chosen`, or the first in the system directories; undefined without one.
 * Called once when a tool is created: a program that appears later is not used.
 *
 * Throws `ConfigError` `invalidOption` for a chosen program that is not absolute, not executable, writable by everybody, or that lies inside
 * `root`, itself or through a link. One the system has under the same conditions is passed over.
 */
export function hostProgram(name: string, root: string, chosen?: string): string | undefined {
  if (chosen !== undefined) {
    const reason = isAbsolute(chosen) ? whyUnusable(chosen, root) : 'it is not an absolute path'
    if (reason !== undefined) throw new ConfigError('invalidOption', `Cannot use ${chosen} as ${name}: ${reason}.`)
    return realpathSync(chosen)
  }
  const found = systemDirectories.map((directory) => join(directory, name)).find((path) => whyUnusable(path, root) === undefined)
  return found === undefined ? undefined : realpathSync(found)
}

function whyUnusable(path: string, root: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    const real = realpathSync(path)
    const stats = statSync(real)
    if (!stats.isFile()) return 'it is not a file'
    if ((stats.mode & 0o002) !== 0) return 'everybody may write to it'
    const places = [resolve(path), real]
    if (places.some((place) => isWithin(root, place))) return `it lies in ${root}, where tools write`
    return undefined
  } catch {
    return 'there is no program that can be executed'
  }
}

/** Returns whether `path` is `directory` or inside it; both absolute. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

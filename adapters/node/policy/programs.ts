import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { aText, options, type Shape } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'

/** Host programs that tools run, as absolute paths. Default: the first match in the system directories. */
export interface HostPrograms {
  /** Sandbox program (bubblewrap). */
  bwrap?: string
  /** Shell for `sandbox: 'none'`. */
  bash?: string
  /** Search, ripgrep. */
  rg?: string
}

export const hostPrograms: Shape = options<HostPrograms>({ bwrap: aText, bash: aText, rg: aText })

/** Timeout in milliseconds for testing a program once. */
export const trialMs = 10_000

// Directories that only an administrator (on macOS, Homebrew's owner) can write to. Never uses PATH, because `npm run` prepends a workspace
// directory that an agent's commands can write to.
const systemDirectories: readonly string[] = [
  ...['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'],
  ...(process.platform === 'darwin' ? ['/opt/homebrew/bin', '/opt/local/bin'] : []),
]

/** The directories as a PATH, for programs that look up other programs. */
export const systemPath: string = systemDirectories.join(':')

/**
 * Returns the real path of the program `name`: `chosen`, or else the first match in the system directories. Returns `undefined` if not
 * found. Called once when a tool is created, so a program installed later is not used.
 *
 * Throws `ConfigError` `invalidOption` for a chosen program that is not absolute, not executable, world-writable, or inside `root`, even
 * through a link. Skips system programs to which this applies.
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
    if ((stats.mode & 0o002) !== 0) return 'anyone can write to it'
    const places = [resolve(path), real]
    if (places.some((place) => isWithin(root, place))) return `it lies in ${root}, where tools can write`
    return undefined
  } catch {
    return 'there is no executable program'
  }
}

/** Returns whether `path` is `directory` or inside it. Both must be absolute. */
export function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

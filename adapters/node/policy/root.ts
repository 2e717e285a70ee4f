import { realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { resolve } from 'node:path'
import { ConfigError } from '../../../src/index.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { isWithin } from './programs.ts'

/** System directories that cannot be a workspace, nor can any directory that contains one of them. */
const systemPlaces: readonly string[] = [
  ...['/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib32', '/lib64', '/opt', '/proc', '/root', '/run', '/sbin', '/srv', '/sys'],
  ...['/usr', '/usr/bin', '/usr/lib', '/usr/local', '/usr/local/bin', '/usr/local/lib', '/usr/sbin', '/usr/share', '/var', '/var/lib'],
  ...['/Applications', '/Library', '/System', '/Users', '/Volumes', '/private', '/private/etc', '/private/var'],
  ...['C:\\', 'C:\\Windows', 'C:\\Program Files', 'C:\\Program Files (x86)', 'C:\\ProgramData', 'C:\\Users'],
]

/** Directories whose subdirectories cannot be a workspace either: system configuration, kernel and devices. */
const systemTrees: readonly string[] = ['/boot', '/etc', '/private/etc', '/proc', '/sys', 'C:\\Windows']

/**
 * Returns the real path of the directory `root`, following links.
 *
 * Throws `ConfigError` `invalidOption` if `root` is not a directory. Unless `allowSystemRoot` is set, also throws if it is, or contains,
 * `/`, a system directory or the user's home directory.
 */
export function realDirectory(root: string, allowSystemRoot = false): string {
  const real = existingDirectory(root)
  const reason = allowSystemRoot ? undefined : whyNoWorkspace(real)
  if (reason === undefined) return real
  throw new ConfigError(
    'invalidOption',
    `Cannot use ${root} as root: ${reason}. Use a separate directory, or set allowSystemRoot: true if tools may change all of it.`,
  )
}

function existingDirectory(root: string): string {
  try {
    const real = realpathSync(resolve(root))
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new ConfigError(
      'invalidOption',
      `Cannot use ${root} as root: ${systemCode(error) ?? 'it is unreadable'}. Create the directory first.`,
    )
  }
  throw new ConfigError('invalidOption', `Cannot use ${root} as root: it is not a directory.`)
}

function whyNoWorkspace(real: string): string | undefined {
  const tree = systemTrees.find((place) => isWithin(place, real))
  if (tree !== undefined) return `it is ${real === tree ? '' : 'in '}${tree}, which belongs to the system`
  const home = homes().find((place) => isWithin(real, place))
  if (home !== undefined) return `it ${real === home ? 'is' : 'contains'} your home directory ${home}`
  const place = systemPlaces.find((system) => sameDirectory(system, real)) ?? (real === '/' ? '/' : undefined)
  return place === undefined ? undefined : `it is ${place}, which belongs to the system`
}

/** Returns the real paths of the user's home directories, from the environment and the user database. */
function homes(): string[] {
  const found = [homedir]
    .concat(() => userInfo().homedir)
    .flatMap((ask) => {
      try {
        return [realpathSync(ask())]
      } catch {
        return [] // no entry, or a missing directory
      }
    })
  // Ignore `/`, which is the home of users without one.
  return found.filter((place) => place !== '/')
}

/** Also true for the same directory under a different path (a bind mount). */
function sameDirectory(place: string, real: string): boolean {
  if (place === real) return true
  const [a, b] = [statSync(place, { throwIfNoEntry: false }), statSync(real)]
  return a?.isDirectory() === true && a.ino === b.ino && a.dev === b.dev
}

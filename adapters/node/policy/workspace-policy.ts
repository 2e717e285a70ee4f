import { lstatSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { aFlag, aText, listOf, type OptionTable } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { canonicalName, gitHead, gitParts, protectedDirectories, protectedFiles } from './protected-names.ts'
import { realDirectory } from './root.ts'
import { runningNames, runningPaths } from './running-package.ts'

/** Restrictions on tools in a workspace, and the options that lift them. */
export interface ProtectionOptions {
  /**
   * Protected names that tools are allowed to change, for example `['.vscode', '.npmrc']`. `'HEAD'` allows directories that git treats as a
   * repository, and `'node_modules'` the running package's dependencies. Default: none.
   */
  unprotected?: readonly string[]
  /** Whether `/`, the home directory or a system directory can be the root. Default: false. */
  allowSystemRoot?: boolean
}

/** Validation shapes for the protection options. See `checkOptions`. */
export const protectionTable: OptionTable<ProtectionOptions> = { unprotected: listOf(aText), allowSystemRoot: aFlag }

/** A workspace's protection policy, which the file tools and bash share. */
export interface WorkspacePolicy {
  /** Real path. */
  readonly root: string
  /** Protected file names, at any depth. */
  readonly files: readonly string[]
  /** Protected directory names, at any depth. */
  readonly directories: readonly string[]
  /** Whether creating git directories is forbidden. */
  readonly guardsGit: boolean
  /** Existing code that runs this process, relative to the root, with forward slashes. */
  readonly running: readonly string[]
}

/** Throws `ConfigError` `invalidOption` for an unsuitable root and for a name that is not protected. */
export function workspacePolicy(root: string, options: ProtectionOptions = {}): WorkspacePolicy {
  const real = realDirectory(root, options.allowSystemRoot)
  const free = new Set(options.unprotected)
  const known = [...protectedFiles, ...protectedDirectories, gitHead, ...runningNames]
  const unknown = [...free].find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new ConfigError('invalidOption', `unprotected: ${JSON.stringify(unknown)} is not protected. Known: ${known.join(', ')}.`)
  }
  const kept = (name: string) => !free.has(name)
  return {
    root: real,
    files: protectedFiles.filter(kept),
    directories: protectedDirectories.filter(kept),
    guardsGit: kept(gitHead),
    running: runningPaths(real)
      .map((path) => relative(real, path).split(sep).join('/'))
      .filter((path) => !path.split('/').some((name) => free.has(name))),
  }
}

/**
 * Returns the part that makes `path` protected, or `undefined` if it is writable. `path` is relative to the root, without links.
 *
 * Protects names at any depth, names that a file system treats as equal (different case, full-width letters, invisible characters, a
 * trailing dot, an NTFS stream), the running package, and files that would turn a directory with a `HEAD` into a git directory.
 */
export function protectedPart(policy: WorkspacePolicy, path: string, kind: 'file' | 'directory' = 'file'): string | undefined {
  const segments = path.split(/[/\\]/).filter((segment) => segment !== '' && segment !== '.')
  const canonical = segments.map(canonicalName)
  const names = [...policy.files, ...policy.directories].map((name) => name.toLowerCase())
  const named = segments.find((_, index) => names.includes(canonical[index] ?? ''))
  if (named !== undefined) return named
  const whole = canonical.join('/')
  const running = policy.running.find((own) => {
    const ours = own.split('/').map(canonicalName).join('/')
    return whole === ours || whole.startsWith(`${ours}/`)
  })
  return running ?? (policy.guardsGit ? gitPart(policy.root, segments, canonical, kind) : undefined)
}

function gitPart(root: string, segments: readonly string[], canonical: readonly string[], kind: 'file' | 'directory'): string | undefined {
  // A path that contains `.git` reaches this line only if `.git` is unprotected.
  if (canonical.includes('.git')) return undefined
  // A directory with this name does not create a repository.
  if (kind === 'file' && canonical.at(-1) === gitHead.toLowerCase()) return segments.at(-1)
  return segments.find((_, index) => {
    if (!gitParts.has(canonical[index] ?? '')) return false
    return lstatSync(join(root, ...segments.slice(0, index), gitHead), { throwIfNoEntry: false })?.isDirectory() === false
  })
}

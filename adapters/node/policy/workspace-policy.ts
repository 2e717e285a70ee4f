import { lstatSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { aFlag, aText, listOf, type OptionTable } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { canonicalName, gitHead, gitParts, protectedDirectories, protectedFiles } from './protected-names.ts'
import { realDirectory } from './root.ts'
import { runningNames, runningPaths } from './running-package.ts'

/** Restrictions of tools in a workspace, and the options that lift them. */
export interface ProtectionOptions {
  /**
   * Names that may be changed although they are protected, for example `['.vscode', '.npmrc']`; `'HEAD'` stands for directories that git takes
   * for a repository, `'node_modules'` for the dependencies of the running package. Default: none.
   */
  unprotected?: readonly string[]
  /** Take `/`, the home directory or a directory of the system as root. Default false. */
  allowSystemRoot?: boolean
}

/** Shapes of the protection options; see `checkOptions`. */
export const protectionTable: OptionTable<ProtectionOptions> = { unprotected: listOf(aText), allowSystemRoot: aFlag }

/** The one policy of a workspace, for file tools and for bash. */
export interface WorkspacePolicy {
  /** Real path. */
  readonly root: string
  /** Protected file names, at any depth. */
  readonly files: readonly string[]
  /** Protected directory names, at any depth. */
  readonly directories: readonly string[]
  /** Whether nothing may become a git directory. */
  readonly guardsGit: boolean
  /** Code that runs this process, relative to the root with forward slashes; it exists. */
  readonly running: readonly string[]
}

/** Throws `ConfigError` `invalidOption` for a root that cannot be one and for a name that is not protected. */
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
 * Returns the part of `path`, relative to the root and without links, that makes it protected; undefined if it is writable.
 *
 * Protected are names at any depth, and names that a file system treats as equal (another case, full-width letters, invisible characters, a
 * trailing dot, an NTFS stream); the running package; what makes a git directory of a directory with a `HEAD`.
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
  // Only where `.git` was given free does a path come here that has it.
  if (canonical.includes('.git')) return undefined
  // A directory of that name makes no repository.
  if (kind === 'file' && canonical.at(-1) === gitHead.toLowerCase()) return segments.at(-1)
  return segments.find((_, index) => {
    if (!gitParts.has(canonical[index] ?? '')) return false
    return lstatSync(join(root, ...segments.slice(0, index), gitHead), { throwIfNoEntry: false })?.isDirectory() === false
  })
}

import { closeSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats, statSync, unlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../../src/index.ts'
import { gitHead, protectedDirectories, protectedFiles } from '../policy/protected-names.ts'
import type { WorkspacePolicy } from '../policy/workspace-policy.ts'
import { processesWith } from '../process/kill.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { sandboxWorkspace } from './profile.ts'

/** The protected names of one workspace, held while a command runs. */
export interface Reservation {
  /** Those that exist now, to be mounted read-only. */
  readonly names: readonly string[]
  /** Gives them up; placeholders nobody needs any more are removed. */
  release(): void
}

// Seconds since 1970. With emptiness, the mark of a placeholder: it is recognised after a crash and by other processes, and whoever puts
// something into it takes the mark away.
const placeholderTime = 1
const inUse = new Map<string, number>()

/**
 * Makes every protected name exist in `root`, so that a sandbox can mount over it: what is missing becomes an empty placeholder for as
 * long as a sandbox of this machine uses the workspace.
 *
 * Throws `ToolError` `failed` when one of them is a link, which cannot be protected, and when the root is a git directory itself.
 */
export function reserveProtected(policy: WorkspacePolicy): Reservation {
  const { root } = policy
  inUse.set(root, (inUse.get(root) ?? 0) + 1)
  try {
    const gitFiles = policy.guardsGit ? gitNames(root) : []
    const names = [
      ...[...policy.files, ...gitFiles].filter((name) => reserve(join(root, name), createFile)),
      ...policy.directories.filter((name) => reserve(join(root, name), mkdirSync)),
    ]
    refuseLinks(policy)
    return { names, release: () => release(root) }
  } catch (error) {
    release(root)
    throw error
  }
}

function reserve(path: string, create: (path: string) => void): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink()) refuseLink(path)
  if (stats !== undefined) return true
  try {
    create(path)
    utimesSync(path, placeholderTime, placeholderTime)
    return true
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST') return reserve(path, create)
    // Where we may not create it, neither may the sandbox: it has the same user and fewer rights. An owner could take the right back, though.
    if (code === 'EACCES' && statSync(dirname(path)).uid === process.getuid?.()) refuseReadOnly(dirname(path))
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
    throw error
  }
}

function refuseReadOnly(root: string): never {
  const advice = 'A command could make it so again and create what is protected. Give the owner the right to write (chmod u+w).'
  throw new ToolError('failed', `Failed to execute: ${root} is yours, but not writable. ${advice}`)
}

function refuseLink(path: string): never {
  throw new ToolError(
    'failed',
    `Failed to execute: ${path} is a symbolic link, which the sandbox cannot protect. Replace it by what it links to, or name it in \`unprotected\`.`,
  )
}

/**
 * Names without which the root, where it is no repository, cannot become one: git wants `HEAD`, `objects` and `refs`, or `HEAD` and
 * `commondir`. Not `HEAD` itself if that can be avoided: beside a file of that name `git show HEAD` is ambiguous.
 */
function gitNames(root: string): string[] {
  const isThere = (name: string) => {
    const stats = lstatSync(join(root, name), { throwIfNoEntry: false })
    return stats !== undefined && !isPlaceholder(stats)
  }
  // A repository in `.git` comes first, and `.git` is reserved.
  if (lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isFile() || isThere(join('.git', gitHead))) return []
  if (!isThere('refs') && !isThere('commondir')) return ['refs', 'commondir']
  if (!isThere(gitHead)) return [gitHead]
  throw new ToolError(
    'failed',
    `Failed to execute: git takes ${root} for a repository by its HEAD, refs or commondir, and a command could give it settings that run programs. Use a working tree as root, or name HEAD in \`unprotected\`.`,
  )
}

function refuseLinks({ root, running }: WorkspacePolicy): void {
  for (const path of running) {
    if (lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink()) refuseLink(join(root, path))
  }
}

function createFile(path: string): void {
  closeSync(openSync(path, 'wx'))
}

function release(root: string): void {
  const left = (inUse.get(root) ?? 1) - 1
  if (left > 0) {
    inUse.set(root, left)
    return
  }
  inUse.delete(root)
  // Removing a placeholder would take the mount away from a sandbox of another process; the last one to end removes it.
  if (sandboxesOn(root)) return
  for (const name of [...protectedFiles, gitHead, 'refs', 'commondir']) removePlaceholder(join(root, name), unlinkSync)
  for (const name of protectedDirectories) removePlaceholder(join(root, name), rmdirSync)
}

function sandboxesOn(root: string): boolean {
  const bytes = Buffer.from(root).toString('latin1')
  const binds = (args: string[], index: number) => args[index - 1] === '--bind' && args[index + 1] === sandboxWorkspace
  return processesWith('cmdline', (args) => args.some((arg, index) => arg === bytes && binds(args, index))).length > 0
}

function removePlaceholder(path: string, remove: (path: string) => void): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || !isPlaceholder(stats)) return
  try {
    remove(path)
  } catch {
    // Somebody uses it after all, or removed it first.
  }
}

function isPlaceholder(stats: Stats): boolean {
  return stats.mtimeMs === placeholderTime * 1000 && (stats.isDirectory() || (stats.isFile() && stats.size === 0))
}

import { closeSync, lstatSync, mkdirSync, openSync, rmdirSync, type Stats, statSync, unlinkSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../../src/index.ts'
import { gitHead, protectedDirectories, protectedFiles } from '../policy/protected-names.ts'
import type { WorkspacePolicy } from '../policy/workspace-policy.ts'
import { processesWith } from '../process/kill.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { sandboxWorkspace } from './profile.ts'

/** The protected names of a workspace, reserved while a command runs. */
export interface Reservation {
  /** Existing names, to mount read-only. */
  readonly names: readonly string[]
  /** Releases the names and removes unused placeholders. */
  release(): void
}

// Modification time (epoch seconds) that marks an empty file as a placeholder, even after a crash and for other processes. Writing to the
// file removes the mark.
const placeholderTime = 1
const inUse = new Map<string, number>()

/**
 * Creates every missing protected name in `root` as an empty placeholder, so that a sandbox can mount over it. Placeholders exist while any
 * sandbox on this machine uses the workspace.
 *
 * Throws `ToolError` `failed` if one of them is a link, which cannot be protected, or if the root is a git directory.
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
    // If this process cannot create the name, the sandbox cannot either. Only the directory's owner could restore the permission.
    if (code === 'EACCES' && statSync(dirname(path)).uid === process.getuid?.()) refuseReadOnly(dirname(path))
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
    throw error
  }
}

function refuseReadOnly(root: string): never {
  const advice = 'A command could restore write permission and create protected files. Make the directory writable (chmod u+w).'
  throw new ToolError('failed', `Failed to execute: you own ${root}, but it is not writable. ${advice}`)
}

function refuseLink(path: string): never {
  throw new ToolError(
    'failed',
    `Failed to execute: ${path} is a symbolic link, which the sandbox cannot protect. Replace it with its target, or list it in \`unprotected\`.`,
  )
}

/**
 * Returns names to reserve so that a root without a repository cannot become one: git needs `HEAD`, `objects` and `refs`, or `HEAD` and
 * `commondir`. Avoids `HEAD` itself, because a file of that name makes `git show HEAD` ambiguous.
 */
function gitNames(root: string): string[] {
  const isThere = (name: string) => {
    const stats = lstatSync(join(root, name), { throwIfNoEntry: false })
    return stats !== undefined && !isPlaceholder(stats)
  }
  // If `.git` is a repository, git ignores one in the root, so no further names need to be reserved.
  if (lstatSync(join(root, '.git'), { throwIfNoEntry: false })?.isFile() || isThere(join('.git', gitHead))) return []
  if (!isThere('refs') && !isThere('commondir')) return ['refs', 'commondir']
  if (!isThere(gitHead)) return [gitHead]
  throw new ToolError(
    'failed',
    `Failed to execute: git treats ${root} as a repository because of its HEAD, refs or commondir, so a command could add settings that run programs. Use a working tree as root, or list HEAD in \`unprotected\`.`,
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
  // Removing a placeholder would remove the mount in another process's sandbox. The last process removes it.
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
    // Another process uses the placeholder or has removed it.
  }
}

function isPlaceholder(stats: Stats): boolean {
  return stats.mtimeMs === placeholderTime * 1000 && (stats.isDirectory() || (stats.isFile() && stats.size === 0))
}

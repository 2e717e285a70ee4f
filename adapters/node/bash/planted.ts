import type { Dirent } from 'node:fs'
import { closeSync, constants, openSync, readdirSync, readlinkSync, renameSync, statSync } from 'node:fs'
import { chmod, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../../src/index.ts'
import { gitHead } from '../policy/protected-names.ts'
import type { WorkspacePolicy } from '../policy/workspace-policy.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { holdParent } from '../workspace/parent.ts'
import { entryOf, type Pinned, pin } from '../workspace/pin.ts'

/** A protected file or git directory below the root (not directly in it). */
interface Found {
  /** Relative to the root, as Latin-1 text with one character per byte, because git also finds names that are invalid UTF-8. */
  path: string
  /** Device and inode, which survive a rename. */
  identity: string
  /** True for a git directory, false for a protected name. */
  isRepository: boolean
  isLink: boolean
}

/** Protected paths of a workspace before a command runs. */
export interface Before {
  /** Paths to mount read-only. The caller closes them. */
  readonly held: readonly { path: string; pinned: Pinned }[]
  readonly identities: ReadonlySet<string>
}

// Maximum mounts, because each mount reads all others and slows down building the sandbox.
const mostHeld = 500
// Maximum milliseconds of synchronous reading before yielding to the event loop.
const breathEvery = 10
// The size that a file system reports for a directory with about ten thousand entries.
const largeDirectory = 1_000_000

/** Finds the protected paths below the root and pins them. Rejects with the signal's reason on abort. */
export async function beforeCommand(policy: WorkspacePolicy, signal: AbortSignal): Promise<Before> {
  const identities = new Set<string>()
  const held: { path: string; pinned: Pinned }[] = []
  try {
    for await (const found of foundBelow(policy)) {
      signal.throwIfAborted()
      const pinned = await holdExactly(policy, found)
      // A path that a concurrent command moved is not pinned, so it must not count as existing before.
      if (pinned !== undefined || found.isLink) identities.add(found.identity)
      if (pinned !== undefined) held.push({ path: textOf(found.path) ?? '', pinned })
      if (held.length > mostHeld) throw tooMany()
    }
  } catch (error) {
    await Promise.all(held.map(({ pinned }) => pinned.close()))
    throw error
  }
  return { held, identities }
}

function tooMany(): ToolError {
  const advice = 'Use a smaller root, or list the names that commands may change in `unprotected`.'
  return new ToolError('failed', `Failed to execute: more than ${mostHeld} files and directories to protect below the root. ${advice}`)
}

/** Error for a path that bubblewrap cannot protect, because bubblewrap requires UTF-8 paths. */
function unreadable(path: string): ToolError {
  const shown = bytesOf(path).toString()
  return new ToolError(
    'failed',
    `Failed to execute: ${JSON.stringify(shown)} cannot be protected: its name is not valid UTF-8. Rename or remove it.`,
  )
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

/** Decodes a byte path. Returns `undefined` if it is not valid UTF-8. */
function textOf(path: string): string | undefined {
  const text = bytesOf(path).toString()
  return Buffer.from(text).toString('latin1') === path ? text : undefined
}

/** The root as Latin-1 text, with one character per byte. */
function rootOf({ root }: WorkspacePolicy): string {
  return Buffer.from(root).toString('latin1')
}

/** Pins a found path, unless it was replaced in the meantime. Links are not pinned, because nothing can be mounted over them. */
async function holdExactly(policy: WorkspacePolicy, { path: bytes, identity }: Found): Promise<Pinned | undefined> {
  const path = textOf(bytes)
  if (path === undefined) throw unreadable(bytes)
  const place = join(policy.root, path)
  const pinned = await pin(policy.root, place, path).catch(() => undefined)
  if (pinned === undefined) return undefined
  const stats = await pinned.stat()
  if (pinned.real === place && `${stats.dev}:${stats.ino}` === identity) return pinned
  await pinned.close()
  return undefined
}

/**
 * Renames protected names that a command created below the root: `.vscode` becomes `.vscode.blocked-…`. In a git directory, renames `HEAD`.
 * Resolves with the renamed paths. Never rejects.
 *
 * Call it after all processes of the command have exited.
 */
export async function undoPlanted(policy: WorkspacePolicy, before: Before): Promise<string[]> {
  const renamed: string[] = []
  for await (const found of foundBelow(policy, ownerMay)) {
    if (before.identities.has(found.identity)) continue
    const bytes = found.isRepository ? `${found.path}/${gitHead}` : found.path
    const path = textOf(bytes)
    const isDone = path === undefined ? renameBytes(policy, bytes) : await renameAside(policy, path)
    if (isDone) renamed.push(path ?? bytesOf(bytes).toString())
  }
  return renamed
}

async function renameAside(policy: WorkspacePolicy, path: string): Promise<boolean> {
  try {
    const { directory, name } = await holdParent(policy, path, false)
    try {
      const aside = `${name}.blocked-${crypto.randomUUID().slice(0, 8)}`
      const rename = async () => renameSync(entryOf(directory, name), entryOf(directory, aside))
      await rename().catch(() => ownerMay(directory.self).then(rename))
      return true
    } finally {
      await directory.close()
    }
  } catch {
    return false // deleted or redirected in the meantime
  }
}

/** Like {@link renameAside}, for a path that is not valid UTF-8. */
function renameBytes(policy: WorkspacePolicy, path: string): boolean {
  const whole = `${rootOf(policy)}/${path}`
  const [directory, name] = [whole.slice(0, whole.lastIndexOf('/')), whole.slice(whole.lastIndexOf('/') + 1)]
  try {
    const descriptor = openSync(bytesOf(directory), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      const self = `/proc/self/fd/${descriptor}`
      // A link in the path could redirect it.
      if (readlinkSync(self, 'latin1') !== directory) return false
      renameSync(bytesOf(`${self}/${name}`), bytesOf(`${self}/${name}.blocked-${crypto.randomUUID().slice(0, 8)}`))
      return true
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false // deleted or redirected in the meantime
  }
}

/** Walks the workspace below the root. Skips links, the running package, and the insides of found directories. */
async function* foundBelow(policy: WorkspacePolicy, unlock?: (directory: Buffer) => Promise<void>): AsyncGenerator<Found, void, undefined> {
  const names = new Set([...policy.files, ...policy.directories])
  const closed = new Set([...policy.running, ...policy.directories].map((path) => Buffer.from(path).toString('latin1')))
  // Dependencies run with the project anyway, so their directories are not scanned.
  const skipped = new Set(['node_modules', ...(names.has('.git') ? [] : ['.git'])])
  const open = ['']
  let breathed = performance.now()
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    if (performance.now() - breathed > breathEvery) {
      await new Promise(setImmediate)
      breathed = performance.now()
    }
    const entries = await entriesOf(`${rootOf(policy)}/${directory}`, unlock)
    if (directory !== '' && policy.guardsGit && isRepository(entries)) {
      yield* foundAt(policy, directory, true)
      continue
    }
    for (const entry of entries) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`
      if (closed.has(path) || skipped.has(entry.name)) continue
      if (directory !== '' && names.has(entry.name)) yield* foundAt(policy, path, entry.name === '.git' && entry.isDirectory())
      else if (entry.isDirectory()) open.push(path)
    }
  }
}

async function* foundAt(policy: WorkspacePolicy, path: string, repository: boolean): AsyncGenerator<Found, void, undefined> {
  const stats = await lstat(bytesOf(`${rootOf(policy)}/${path}`), { bigint: true }).catch(() => undefined)
  if (stats !== undefined) yield { path, identity: `${stats.dev}:${stats.ino}`, isRepository: repository, isLink: stats.isSymbolicLink() }
}

/** Restores the owner's access rights to a directory, because a command may have removed them to hide content from this scan. */
async function ownerMay(directory: string | Buffer): Promise<void> {
  await chmod(directory, 0o700)
}

async function entriesOf(directory: string, unlock?: (directory: Buffer) => Promise<void>): Promise<Dirent[]> {
  try {
    return await read(directory)
  } catch (error) {
    if (unlock !== undefined && systemCode(error) === 'EACCES')
      return unlock(bytesOf(directory)).then(
        () => read(directory),
        () => [],
      )
    // Removed, unreadable, or too deep for a path, so other programs cannot open it by name either.
    if (systemCode(error) !== undefined) return []
    throw error
  }
}

/** Reads a directory synchronously, which halves the time. Streams a directory with thousands of entries. */
async function read(directory: string): Promise<Dirent[]> {
  const bytes = bytesOf(directory)
  if (statSync(bytes).size < largeDirectory) return readdirSync(bytes, { withFileTypes: true, encoding: 'latin1' })
  const entries: Dirent[] = []
  for await (const entry of await opendir(bytes, { bufferSize: 1000, encoding: 'latin1' })) entries.push(entry)
  return entries
}

/** Returns whether git would treat the directory as a repository. */
function isRepository(entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name)
  return has(gitHead) && ((has('objects') && has('refs')) || has('commondir'))
}

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

/** Something below the root, though not at it, that other programs obey. */
interface Found {
  /** Relative to the root, a letter for each byte: names need not be UTF-8, and git finds them all the same. */
  path: string
  /** Device and inode: a rename does not change it. */
  identity: string
  /** A directory in which git finds a repository; else a protected name. */
  isRepository: boolean
  isLink: boolean
}

/** What stood in a workspace before a command. */
export interface Before {
  /** To be mounted read-only. The caller closes them. */
  readonly held: readonly { path: string; pinned: Pinned }[]
  readonly identities: ReadonlySet<string>
}

// More would make building the sandbox slow (each mount reads all others).
const mostHeld = 500
// Milliseconds of reading before everything else has its turn.
const breathEvery = 10
// Bytes a file system gives for a directory with some ten thousand entries.
const largeDirectory = 1_000_000

/** Finds and holds what stands below the root of a workspace and has to stay as it is. Rejects with the reason of `signal`. */
export async function beforeCommand(policy: WorkspacePolicy, signal: AbortSignal): Promise<Before> {
  const identities = new Set<string>()
  const held: { path: string; pinned: Pinned }[] = []
  try {
    for await (const found of foundBelow(policy)) {
      signal.throwIfAborted()
      const pinned = await holdExactly(policy, found)
      // What another command moved away at this moment is not held, so it must not pass for what was there before either.
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
  const advice = 'Use a smaller root, or name in `unprotected` what commands may change.'
  return new ToolError('failed', `Failed to execute: more than ${mostHeld} files and directories to protect below the root. ${advice}`)
}

/** What bubblewrap, which is given names as text, could not protect. */
function unreadable(path: string): ToolError {
  const shown = bytesOf(path).toString()
  return new ToolError(
    'failed',
    `Failed to execute: ${JSON.stringify(shown)} has to be protected, and its name is no UTF-8. Rename or remove it.`,
  )
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

/** A path of bytes as text; undefined where it is none. */
function textOf(path: string): string | undefined {
  const text = bytesOf(path).toString()
  return Buffer.from(text).toString('latin1') === path ? text : undefined
}

/** The root as bytes, a letter for each. */
function rootOf({ root }: WorkspacePolicy): string {
  return Buffer.from(root).toString('latin1')
}

/** Holds what was found, unless something else has taken its place; a link is not held, as nothing can be mounted over it. */
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
 * Renames what a command has put below the root that file tools would not write: `.vscode` becomes `.vscode.blocked-…`, of a git directory its
 * `HEAD`. Resolves with the paths that were renamed; never rejects.
 *
 * Call it when all processes of the command are gone.
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
    return false // gone, or led elsewhere meanwhile
  }
}

/** As {@link renameAside}, for a path that is no text. */
function renameBytes(policy: WorkspacePolicy, path: string): boolean {
  const whole = `${rootOf(policy)}/${path}`
  const [directory, name] = [whole.slice(0, whole.lastIndexOf('/')), whole.slice(whole.lastIndexOf('/') + 1)]
  try {
    const descriptor = openSync(bytesOf(directory), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      const self = `/proc/self/fd/${descriptor}`
      // A link on the way would lead elsewhere.
      if (readlinkSync(self, 'latin1') !== directory) return false
      renameSync(bytesOf(`${self}/${name}`), bytesOf(`${self}/${name}.blocked-${crypto.randomUUID().slice(0, 8)}`))
      return true
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false // gone, or led elsewhere meanwhile
  }
}

/** Walks the workspace, without entering links, what runs this process, or what was found. The root itself is the reservation's. */
async function* foundBelow(policy: WorkspacePolicy, unlock?: (directory: Buffer) => Promise<void>): AsyncGenerator<Found, void, undefined> {
  const names = new Set([...policy.files, ...policy.directories])
  const closed = new Set([...policy.running, ...policy.directories].map((path) => Buffer.from(path).toString('latin1')))
  // Dependencies run when the project runs; nobody works in their directories.
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

/** Gives the owner all rights to a directory: a command may have taken them away to hide what is in it, and git asks by name. */
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
    // Gone, not readable, or so deep that no path leads there: nobody else gets there by name either.
    if (systemCode(error) !== undefined) return []
    throw error
  }
}

/** At once, which takes half the time of a promise for each directory; one with thousands of entries piece by piece. */
async function read(directory: string): Promise<Dirent[]> {
  const bytes = bytesOf(directory)
  if (statSync(bytes).size < largeDirectory) return readdirSync(bytes, { withFileTypes: true, encoding: 'latin1' })
  const entries: Dirent[] = []
  for await (const entry of await opendir(bytes, { bufferSize: 1000, encoding: 'latin1' })) entries.push(entry)
  return entries
}

/** What git takes for a repository when it stands in such a directory: all of that, whatever it contains. */
function isRepository(entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name)
  return has(gitHead) && ((has('objects') && has('refs')) || has('commondir'))
}

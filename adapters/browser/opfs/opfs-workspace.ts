import { sha256Of } from '../../../src/base/hash.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aText, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { PhiError } from '../../../src/index.ts'
import { changed, notFound, rootStays, wrongKind } from '../../../src/internal.ts'
import { joinPath, resolvePath, type Workspace, WorkspaceError, type WorkspaceStat } from '../../../src/tools.ts'

/** Returns whether the browser reports a missing entry. */
function isNotFound(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'NotFoundError'
}

/** Converts a browser error to a `WorkspaceError`. */
function translated(path: string, error: unknown): Error {
  if (PhiError.isInstance(error)) return error
  if (isNotFound(error)) return notFound(path)
  const shown = JSON.stringify(path)
  if (error instanceof DOMException && error.name === 'QuotaExceededError') {
    const message = `${shown} does not fit: the browser's storage quota is used up. Remove files or sessions, or request more with navigator.storage.persist().`
    return new WorkspaceError('io', message, { cause: error })
  }
  if (error instanceof TypeError)
    return new WorkspaceError('outside', `The browser does not allow the file name ${shown}. Use another name.`, { cause: error })
  return new WorkspaceError('io', `Cannot access ${shown}: ${errorText(error)}`, { cause: error })
}

/** Options for `opfsWorkspace`. */
export interface OpfsWorkspaceOptions {
  /** Root directory in the origin's file system, created on first use. Default: `workspace`. */
  directory?: string
}

/** Maximum size of a file whose version is its hash. A larger file's version is its time and size. */
const hashedBytes = 32 * 1024 * 1024

const workspaceOptions = optionsOf<OpfsWorkspaceOptions>({ directory: aText })

/**
 * Creates a workspace in the origin private file system, for tabs and workers.
 *
 * **Contract**
 * - Follows the `Workspace` port. A write replaces the whole file atomically, even if the tab ends in the middle.
 * - A Web Lock serializes the writers in a directory, also across tabs. Readers wait for them.
 * - A `version` is the SHA-256 of the content, or the time and size for files over 32 MiB.
 * - `write` rejects with `io` if the quota is exhausted, and the old file stays. The browser may delete all files if the device
 *   runs out of space, unless `navigator.storage.persist()` was granted.
 * - Every method rejects with `io` if the browser, such as WebKitGTK, has no such file system.
 * - Throws `ConfigError` for an invalid option, and `WorkspaceError` `outside` for an invalid directory path.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function opfsWorkspace(options: OpfsWorkspaceOptions = {}): Workspace {
  checkOptions(options, workspaceOptions)
  return new OpfsWorkspace(resolvePath(options.directory ?? 'workspace'))
}

class OpfsWorkspace implements Workspace {
  readonly root: string
  readonly #directory: string

  constructor(directory: string) {
    this.root = `opfs:/${directory === '.' ? '' : directory}`
    this.#directory = directory
  }

  read(path: string, { start = 0, end, signal }: Parameters<Workspace['read']>[1] = {}): Promise<Uint8Array> {
    return this.#guarded({ path, signal, mode: 'shared' }, async (segments) => {
      const from = Math.max(0, start)
      const until = end === undefined ? undefined : Math.max(from, end)
      const file = await (await fileOf(path, await this.#root(), segments)).getFile()
      return new Uint8Array(await file.slice(from, until).arrayBuffer())
    })
  }

  write(path: string, data: Uint8Array, { ifMatch, signal }: Parameters<Workspace['write']>[2] = {}): Promise<WorkspaceStat> {
    // A copy, because the caller may change the bytes while the write waits.
    const bytes = data.slice()
    return this.#guarded({ path, signal, mode: 'exclusive' }, async (segments) => {
      const root = await this.#root()
      const old = await existingFile(path, root, segments)
      const version = ifMatch === undefined || old === null ? null : (await statOf(old)).version
      if (ifMatch !== undefined && ifMatch !== version)
        throw changed(path, ifMatch === null ? 'exists' : 'has a different version than expected, or no longer exists')
      signal?.throwIfAborted()
      const parent = await directoryOf(path, root, segments.slice(0, -1), true)
      const handle = await parent.getFileHandle(segments.at(-1) ?? '', { create: true })
      await replace(handle, bytes)
      return statOf(handle)
    })
  }

  stat(path: string, { signal }: Parameters<Workspace['stat']>[1] = {}): Promise<WorkspaceStat> {
    return this.#guarded({ path, signal, mode: 'shared' }, async (segments) => statOf(await entryOf(path, await this.#root(), segments)))
  }

  list(path: string, { signal }: Parameters<Workspace['list']>[1] = {}): ReturnType<Workspace['list']> {
    return this.#guarded({ path, signal, mode: 'shared' }, async (segments) => {
      const directory = await directoryOf(path, await this.#root(), segments)
      const entries: Awaited<ReturnType<Workspace['list']>> = []
      for await (const [name, { kind }] of directory.entries()) {
        signal?.throwIfAborted()
        entries.push({ path: joinPath(segments.join('/') || '.', name), kind })
      }
      return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
    })
  }

  remove(path: string, { signal }: Parameters<Workspace['remove']>[1] = {}): Promise<void> {
    return this.#guarded({ path, signal, mode: 'exclusive' }, async (segments) => {
      const name = segments.at(-1)
      if (name === undefined) throw rootStays()
      const parent = await directoryOf(path, await this.#root(), segments.slice(0, -1))
      signal?.throwIfAborted()
      await parent.removeEntry(name, { recursive: true })
    })
  }

  async #root(): Promise<FileSystemDirectoryHandle> {
    const segments = this.#directory === '.' ? [] : this.#directory.split('/')
    return directoryOf(this.root, await fileSystem(), segments, true)
  }

  /** Waits for the lock, then acts. Every failure is a rejection with a `WorkspaceError`. */
  async #guarded<Value>({ path, signal, mode }: Access, act: (segments: string[]) => Promise<Value>): Promise<Value> {
    signal?.throwIfAborted()
    const resolved = resolvePath(path)
    const segments = resolved === '.' ? [] : resolved.split('/')
    try {
      return await navigator.locks.request(`phi-core/${this.root}`, { mode, ...(signal !== undefined && { signal }) }, () => act(segments))
    } catch (error) {
      signal?.throwIfAborted()
      throw translated(path, error)
    }
  }
}

/** The kind of access to lock for. */
interface Access {
  path: string
  signal: AbortSignal | undefined
  mode: LockMode
}

/** Some browsers lack this file system, and so do sandboxed frames and insecure pages. */
async function fileSystem(): Promise<FileSystemDirectoryHandle> {
  const { storage } = navigator
  if (typeof storage?.getDirectory === 'function') return storage.getDirectory()
  throw new WorkspaceError(
    'io',
    'The origin private file system is unavailable: it requires https or localhost. memoryWorkspace() works everywhere.',
  )
}

type EntryHandle = FileSystemFileHandle | FileSystemDirectoryHandle

async function directoryOf(
  path: string,
  root: FileSystemDirectoryHandle,
  segments: readonly string[],
  create = false,
): Promise<FileSystemDirectoryHandle> {
  let directory = root
  for (const segment of segments) {
    const child = await childOf(directory, segment)
    if (child?.kind === 'file') throw wrongKind(path, segment === segments.at(-1) ? 'is, or leads through, a file' : 'leads through a file')
    if (child === undefined && !create) throw notFound(path)
    directory = child ?? (await directory.getDirectoryHandle(segment, { create: true }))
  }
  return directory
}

async function entryOf(path: string, root: FileSystemDirectoryHandle, segments: readonly string[]): Promise<EntryHandle> {
  const name = segments.at(-1)
  if (name === undefined) return root
  const entry = await childOf(await directoryOf(path, root, segments.slice(0, -1)), name)
  if (entry === undefined) throw notFound(path)
  return entry
}

async function fileOf(path: string, root: FileSystemDirectoryHandle, segments: readonly string[]): Promise<FileSystemFileHandle> {
  const entry = await entryOf(path, root, segments)
  if (entry.kind === 'directory') throw wrongKind(path, 'is a directory')
  return entry
}

/** Returns the file or directory with this name. */
async function childOf(directory: FileSystemDirectoryHandle, name: string): Promise<EntryHandle | undefined> {
  try {
    return await directory.getFileHandle(name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (!(error instanceof DOMException) || error.name !== 'TypeMismatchError') throw error
    return directory.getDirectoryHandle(name)
  }
}

/** Returns the file that a write replaces, or `null`. */
async function existingFile(
  path: string,
  root: FileSystemDirectoryHandle,
  segments: readonly string[],
): Promise<FileSystemFileHandle | null> {
  try {
    return await fileOf(path, root, segments)
  } catch (error) {
    if (WorkspaceError.isInstance(error) && error.code === 'notFound') return null
    throw error
  }
}

async function statOf(entry: EntryHandle): Promise<WorkspaceStat> {
  if (entry.kind === 'directory') return { kind: 'directory', size: 0, version: 'directory' }
  const file = await entry.getFile()
  const { size, lastModified } = file
  if (size > hashedBytes) return { kind: 'file', size, version: `${lastModified}-${size}` }
  return { kind: 'file', size, version: await sha256Of(new Uint8Array(await file.arrayBuffer())) }
}

/** Replaces the content only once the new one is complete. */
async function replace(handle: FileSystemFileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const writable = await handle.createWritable()
  try {
    await writable.write(bytes)
    await writable.close()
  } catch (error) {
    await writable.abort().catch(() => undefined)
    throw error
  }
}

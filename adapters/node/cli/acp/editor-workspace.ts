import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { utf8In } from '../../../../src/base/text/characters.ts'
import { type Workspace, WorkspaceError } from '../../../../src/tools.ts'

/** Access to the editor's open text files. */
export interface EditorFiles {
  /** Returns the text of a file in the editor, saved or not, or `undefined` if the editor does not provide it. */
  read?: (path: string, signal: AbortSignal | undefined) => Promise<string | undefined>
  /** Shows written text in the editor. */
  write?: (path: string, text: string, signal: AbortSignal | undefined) => Promise<void>
}

/** Maximum file size in bytes. Larger files are read from disk. */
const largestRead = 2 * 1024 * 1024

/**
 * Wraps a workspace so that text files are read from the editor, with unsaved changes.
 *
 * **Contract**
 * - Access rules are checked on disk: each path is resolved and written on disk first. The editor is notified afterwards.
 * - Files that are not text, are large, or are not provided by the editor are read from disk.
 */
export class EditorWorkspace implements Workspace {
  readonly root: string
  readonly #disk: Workspace
  readonly #editor: EditorFiles

  constructor(disk: Workspace, editor: EditorFiles) {
    this.root = disk.root
    this.#disk = disk
    this.#editor = editor
  }

  async read(path: string, options: Parameters<Workspace['read']>[1] = {}): ReturnType<Workspace['read']> {
    const open = await this.#open(path, options.signal)
    return open === undefined ? this.#disk.read(path, options) : open.bytes.subarray(options.start ?? 0, options.end)
  }

  async stat(path: string, options: Parameters<Workspace['stat']>[1] = {}): ReturnType<Workspace['stat']> {
    const open = await this.#open(path, options.signal)
    return open === undefined ? this.#disk.stat(path, options) : { kind: 'file', size: open.bytes.length, version: open.version }
  }

  async write(path: string, data: Uint8Array, options: Parameters<Workspace['write']>[2] = {}): ReturnType<Workspace['write']> {
    const { ifMatch, signal } = options
    const open = typeof ifMatch === 'string' ? await this.#open(path, signal) : undefined
    if (open !== undefined && open.version !== ifMatch)
      throw new WorkspaceError('conflict', `${path} changed in the editor, so nothing was written. Read it again.`)
    const written = await this.#disk.write(path, data, open === undefined ? options : { ...options, ifMatch: open.onDisk })
    await this.#editor.write?.(join(this.root, path), new TextDecoder().decode(data), signal).catch(() => undefined)
    return written
  }

  async list(path: string, options?: Parameters<Workspace['list']>[1]): ReturnType<Workspace['list']> {
    return this.#disk.list(path, options)
  }

  async remove(path: string, options?: Parameters<Workspace['remove']>[1]): ReturnType<Workspace['remove']> {
    return this.#disk.remove(path, options)
  }

  /** A file in the editor, with its versions in the editor and on disk. */
  async #open(path: string, signal: AbortSignal | undefined): Promise<{ bytes: Uint8Array; version: string; onDisk: string } | undefined> {
    if (this.#editor.read === undefined) return undefined
    const options = signal === undefined ? {} : { signal }
    const { kind, size, version: onDisk } = await this.#disk.stat(path, options)
    if (kind !== 'file' || size > largestRead || utf8In(await this.#disk.read(path, options)) === undefined) return undefined
    const text = await this.#editor.read(join(this.root, path), signal)
    signal?.throwIfAborted()
    if (text === undefined) return undefined
    const bytes = new TextEncoder().encode(text)
    return { bytes, version: `${onDisk}.${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`, onDisk }
  }
}

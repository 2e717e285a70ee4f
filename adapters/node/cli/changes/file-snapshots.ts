import { createHash } from 'node:crypto'
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../../../src/contract/errors.ts'
import { ToolError } from '../../../../src/index.ts'
import { type Workspace, WorkspaceError } from '../../../../src/tools.ts'

/** A change to a file: hashes of its content before and after, or `null` if there is no file. */
export interface KeptChange {
  /** The history's length at the time of the change. */
  position: number
  /** Id of the workspace that contains the path. */
  root: string
  path: string
  before: string | null
  after: string | null
}

/**
 * A changed file, with its content before the first change and now. The content is `null` if there is no file, or `undefined` if
 * unreadable.
 */
export interface TouchedFile {
  path: string
  before: Uint8Array | null
  now: Uint8Array | null | undefined
}

/** What an undo changed. */
export interface TakenBack {
  /** Restored files. */
  files: string[]
  /** Messages about files that were not restored. */
  notes: string[]
}

/** Maximum size in bytes of a file to snapshot. */
const largestKept = 20 * 1024 * 1024
/** Snapshots are deleted after this many days without a change. */
const keptDays = 30

/**
 * Stores file contents before tools change them, per session, in a folder outside the workspace, so that `/undo` and `/diff` work without
 * git.
 *
 * **Contract**
 * - A snapshot, named by its hash, is written before the change. If the process is killed in between, the file is unchanged.
 * - Does not modify files that another program has changed since then, and reports them.
 */
export class FileSnapshots {
  readonly #directory: string
  readonly #workspaces = new Map<string, Workspace>()
  #place = ''
  #position: () => number = () => 0
  #changes: KeptChange[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Returns whether changes in this workspace can be undone. */
  knows(workspace: Workspace): void {
    this.#workspaces.set(workspace.root, workspace)
  }

  /** Opens the snapshots for a session whose history has `position()` messages. Deletes the snapshots for sessions unused for 30 days. */
  async enter(sessionId: string, position: () => number): Promise<void> {
    this.#position = position
    this.#place = join(this.#directory, createHash('sha256').update(sessionId).digest('hex').slice(0, 32))
    const text = await readFile(join(this.#place, 'changes.jsonl'), 'utf8').catch(() => '')
    this.#changes = text.split('\n').flatMap(changeIn)
    await this.#deleteOld()
  }

  /** Applies `change` to the file at `path`, and stores the old content. If that cannot be stored, rejects without a change. */
  async around<Result>(
    { workspace, path, signal }: { workspace: Workspace; path: string; signal: AbortSignal },
    change: () => Promise<Result> | Result,
  ): Promise<Result> {
    const before = await this.#keep(workspace, path, signal)
    const result = await change()
    const after = await bytesAt(workspace, path, signal).catch(() => null)
    if (after !== undefined)
      await this.#add({ position: this.#position(), root: workspace.root, path, before, after: after === null ? null : hashOf(after) })
    return result
  }

  /** Returns each file changed in the session with the content before its first change, or `null` if it did not exist. */
  async touched(): Promise<TouchedFile[]> {
    const first = new Map<string, KeptChange>()
    for (const change of this.#changes) if (!first.has(placeOf(change))) first.set(placeOf(change), change)
    const found: TouchedFile[] = []
    for (const { root, path, before } of first.values()) {
      const workspace = this.#workspaces.get(root)
      if (workspace === undefined) continue
      const now = await bytesAt(workspace, path, AbortSignal.timeout(10_000)).catch(() => undefined)
      found.push({ path, before: before === null ? null : await this.#blob(before), now })
    }
    return found
  }

  /** Undoes changes since the history had `from` messages, newest first. */
  async takeBack(from: number, signal: AbortSignal): Promise<TakenBack> {
    const files = new Set<string>()
    const notes = new Map<string, string>()
    const rest: KeptChange[] = []
    for (const each of this.#changes.toReversed()) {
      if (each.position < from || notes.has(placeOf(each))) rest.unshift(each)
      else {
        const note = await this.#restore(each, signal)
        if (note === undefined) files.add(each.path)
        else {
          notes.set(placeOf(each), note)
          rest.unshift(each)
        }
      }
    }
    this.#changes = rest
    await this.#write(join(this.#place, 'changes.jsonl'), rest.map((each) => `${JSON.stringify(each)}\n`).join(''))
    const isLeft = (path: string): boolean => rest.some((each) => each.position >= from && each.path === path)
    return { files: [...files].filter((path) => !isLeft(path)), notes: [...notes.values()] }
  }

  async #restore({ root, path, before, after }: KeptChange, signal: AbortSignal): Promise<string | undefined> {
    const workspace = this.#workspaces.get(root)
    if (workspace === undefined) return `${path} was not restored: ${root} is not open.`
    const now = await bytesAt(workspace, path, signal).catch(() => undefined)
    if (now === undefined) return `${path} was not restored: it is unreadable.`
    if ((now === null ? null : hashOf(now)) !== after) return `${path} was not restored: it has changed since.`
    try {
      if (before === null) {
        if (now !== null) await workspace.remove(path, { signal })
      } else await workspace.write(path, await this.#blob(before), { signal })
      return undefined
    } catch (error) {
      return `${path} was not restored: ${errorText(error)}`
    }
  }

  /** Stores the content at `path`, and returns its name. */
  async #keep(workspace: Workspace, path: string, signal: AbortSignal): Promise<string | null> {
    const bytes = await bytesAt(workspace, path, signal)
    if (bytes === null) return null
    if (bytes === undefined)
      throw new ToolError('failed', `${path} has more than ${largestKept} bytes, too large to undo, so nothing was written.`)
    const name = hashOf(bytes)
    await mkdir(this.#place, { recursive: true, mode: 0o700 })
    await this.#write(join(this.#place, name), bytes)
    return name
  }

  async #blob(name: string): Promise<Uint8Array> {
    return readFile(join(this.#place, name))
  }

  async #add(change: KeptChange): Promise<void> {
    if (change.before === change.after) return
    this.#changes.push(change)
    await mkdir(this.#place, { recursive: true, mode: 0o700 })
    await appendFile(join(this.#place, 'changes.jsonl'), `${JSON.stringify(change)}\n`, { mode: 0o600 })
  }

  /** Readers see either the old or the new file. */
  async #write(path: string, data: string | Uint8Array): Promise<void> {
    const draft = `${path}.${process.pid}`
    await mkdir(this.#place, { recursive: true, mode: 0o700 })
    await writeFile(draft, data, { mode: 0o600 })
    await rename(draft, path)
  }

  async #deleteOld(): Promise<void> {
    const names = await readdir(this.#directory).catch(() => [])
    for (const name of names.filter((each) => /^[0-9a-f]{32}$/.test(each))) {
      const path = join(this.#directory, name)
      const changed = await stat(join(path, 'changes.jsonl')).catch(() => undefined)
      const isOld = changed !== undefined && Date.now() - changed.mtimeMs > keptDays * 86_400_000
      if (isOld && path !== this.#place) await rm(path, { recursive: true, force: true })
    }
  }
}

/** Returns the content at `path`: `null` if the file does not exist, `undefined` if it is too large. */
async function bytesAt(workspace: Workspace, path: string, signal: AbortSignal): Promise<Uint8Array | null | undefined> {
  try {
    const { kind, size } = await workspace.stat(path, { signal })
    if (kind !== 'file') return null
    return size > largestKept ? undefined : await workspace.read(path, { signal })
  } catch (error) {
    signal.throwIfAborted()
    // The tool itself rejects paths that are outside or protected.
    if (WorkspaceError.isInstance(error)) return null
    throw error
  }
}

const placeOf = ({ root, path }: KeptChange): string => `${root}\0${path}`

function hashOf(bytes: Uint8Array): string {
  return `sha256-${createHash('sha256').update(bytes).digest('hex')}`
}

/** Ignores a truncated line. */
function changeIn(line: string): KeptChange[] {
  try {
    const { position, root, path, before, after }: Record<string, unknown> = Object(JSON.parse(line))
    const isHash = (value: unknown): value is string | null =>
      value === null || (typeof value === 'string' && /^sha256-[0-9a-f]+$/.test(value))
    const isPlace = typeof position === 'number' && typeof root === 'string' && typeof path === 'string'
    return isPlace && isHash(before) && isHash(after) ? [{ position, root, path, before, after }] : []
  } catch {
    return []
  }
}

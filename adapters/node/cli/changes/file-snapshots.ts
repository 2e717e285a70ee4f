import { createHash } from 'node:crypto'
import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../../../../src/contract/errors.ts'
import { ToolError } from '../../../../src/index.ts'
import { type Workspace, WorkspaceError } from '../../../../src/tools.ts'

/** A change of a file that was made: hashes of what was there before and after it, `null` for no file. */
export interface KeptChange {
  /** How many messages the history had when it was made. */
  position: number
  /** Of the workspace that the path is in. */
  root: string
  path: string
  before: string | null
  after: string | null
}

/** A file that was changed: what was there before the first change, and what is there now; `null` for no file, `undefined` for one that cannot be read. */
export interface TouchedFile {
  path: string
  before: Uint8Array | null
  now: Uint8Array | null | undefined
}

/** How taking back went. */
export interface TakenBack {
  /** Files that are as they were. */
  files: string[]
  /** Sentences about those that are not. */
  notes: string[]
}

/** Larger files are not kept. Bytes. */
const largestKept = 20 * 1024 * 1024
/** After so many days without a change nobody takes anything back. */
const keptDays = 30

/**
 * What files were before tools changed them, session by session, in a directory of its own outside of the workspace: `/undo` and `/diff` need no git.
 *
 * **Contract**
 * - Bytes are written before the change that they were before of, and are named by their hash: a kill in between leaves the file, or both.
 * - A file that somebody else has changed since is left alone, and named.
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

  /** What was changed in this workspace can be taken back. */
  knows(workspace: Workspace): void {
    this.#workspaces.set(workspace.root, workspace)
  }

  /** Goes on with what was kept of a session, whose history has `position()` messages. What nobody has touched for 30 days is deleted. */
  async enter(sessionId: string, position: () => number): Promise<void> {
    this.#position = position
    this.#place = join(this.#directory, createHash('sha256').update(sessionId).digest('hex').slice(0, 32))
    const text = await readFile(join(this.#place, 'changes.jsonl'), 'utf8').catch(() => '')
    this.#changes = text.split('\n').flatMap(changeIn)
    await this.#deleteOld()
  }

  /** Does `change` to the file at `path`, and keeps what was there. Rejects, with nothing done, where it cannot be kept. */
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

  /** What the session changed, each file once: what was there before the first change of it, `null` for no file. */
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

  /** Takes back what was changed since the history had `from` messages, the newest first. */
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
    if (now === undefined) return `${path} was not restored: it cannot be read.`
    if ((now === null ? null : hashOf(now)) !== after) return `${path} was not restored: it changed since.`
    try {
      if (before === null) {
        if (now !== null) await workspace.remove(path, { signal })
      } else await workspace.write(path, await this.#blob(before), { signal })
      return undefined
    } catch (error) {
      return `${path} was not restored: ${errorText(error)}`
    }
  }

  /** Keeps what is at `path`, and gives its name. */
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

  /** Whoever looks sees the old file or the new one. */
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

/** What is at `path`: `null` for no file, `undefined` for one that is too large. */
async function bytesAt(workspace: Workspace, path: string, signal: AbortSignal): Promise<Uint8Array | null | undefined> {
  try {
    const { kind, size } = await workspace.stat(path, { signal })
    if (kind !== 'file') return null
    return size > largestKept ? undefined : await workspace.read(path, { signal })
  } catch (error) {
    signal.throwIfAborted()
    // What is outside or protected is refused by the tool itself.
    if (WorkspaceError.isInstance(error)) return null
    throw error
  }
}

const placeOf = ({ root, path }: KeptChange): string => `${root}\0${path}`

function hashOf(bytes: Uint8Array): string {
  return `sha256-${createHash('sha256').update(bytes).digest('hex')}`
}

/** A line that was cut off says nothing. */
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

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { SessionStatus } from '../../../../src/session.ts'
import { systemCode } from '../../workspace/fs-errors.ts'
import { type FileOperations, makeDurableDirectory } from '../file-operations.ts'
import { createdFirst, isAbsent } from '../log/epoch-files.ts'

/** A session's end when it was inspected: the last non-empty file. */
export interface KnownEnd {
  name: string
  size: number
  modified: number
  /** Status of the last loop. Absent if it was not read. */
  status?: SessionStatus
}

/** Returns whether a session still has the same end. */
export function isSameEnd(end: KnownEnd | undefined, other: KnownEnd | undefined): boolean {
  return end?.name === other?.name && end?.size === other?.size && end?.modified === other?.modified
}

/** Sessions that need no inspection. */
export interface KnownEnds {
  /** Ends by folder. Excludes folders without records, because a power failure could undo their removal. */
  ends: ReadonlyMap<string, KnownEnd>
  /** Folders of sessions that were written since then, or will be. */
  marked: ReadonlySet<string>
  /** Time of the index in epoch milliseconds, or 0 without an index. */
  madeAt: number
}

/** Thresholds for writing a new index. */
export interface IndexLimits {
  /** Number of folders to inspect above which a new index is worthwhile. */
  looks: number
  /** Age of the last index in milliseconds above which a new one is worthwhile. Every writer then marks its session again. */
  ageMs: number
}

/** Limits for `fileSessionStore`. */
export const indexLimits: IndexLimits = { looks: 64, ageMs: 10_000 }

/** Stored next to the sessions, because no id starts with a dot. */
const folderName = '.lists'

const version = 2
const pattern = /^(marks|index)\.([1-9]\d{0,14})(\.tmp)?$/
const nothingKnown: KnownEnds = { ends: new Map(), marked: new Set(), madeAt: 0 }

/** Maximum new indexes or generations during one read. More indicate a different fault. */
const mostTries = 10

/**
 * Index of the ends of sessions, so that a list inspects only folders that were written since. The folders are authoritative, so the index
 * may be lost at any time.
 *
 * **Contract**
 * - `.lists/index.N` contains each session's end at or after the start of generation N, and its status if read. `.lists/marks.N` contains
 *   an empty file for each session claimed since then. An index is valid while its marks exist.
 * - A writer marks its session in the newest generation before its first acknowledgement, and checks for a newer one after each write,
 *   before the acknowledgement. An index starts a generation before it reads the marked sessions. Therefore, each acknowledged record is in
 *   the index, or its session is marked.
 * - Exactly one process starts a generation. An unfinished generation is harmless, because the previous index applies with the marks of
 *   both.
 * - Older marks are removed when the newer index is durable. A reader of the older index then detects the newer one and restarts.
 */
export class ListIndex {
  readonly #operations: FileOperations
  readonly #root: string
  readonly #folder: string
  readonly #limits: IndexLimits
  /** Generation whose marks folder is durable. */
  #durable = 0
  /** Whether this driver is writing an index, so that concurrent lists write only one. */
  #isMaking = false

  constructor(operations: FileOperations, root: string, limits: IndexLimits) {
    this.#operations = operations
    this.#root = root
    this.#limits = limits
    this.#folder = join(root, folderName)
  }

  /** Never rejects. Without a readable index, returns an empty one. */
  async read(): Promise<KnownEnds> {
    try {
      for (let tries = 0; tries < mostTries; tries++) {
        const generations = await this.#generations()
        const [newest = 0] = generations.index
        if (newest === 0 || !generations.marks.includes(newest)) return nothingKnown
        const known = await this.#readIndex(newest, generations.marks).catch(unless(isAbsent))
        // A writer of a newer index then removes marks, so the marks just read may be incomplete.
        if (known !== undefined && (await this.#generations()).index[0] === newest) return known
      }
      return nothingKnown
    } catch {
      return nothingKnown
    }
  }

  /**
   * Makes later lists inspect the session in this folder, regardless of the index. The mark is durable when this resolves with the
   * generation, or 0 without an index. `marked` is the generation of an earlier mark.
   */
  async mark(session: string, marked = 0): Promise<number> {
    let last = marked
    for (let tries = 0; tries < mostTries; tries++) {
      const [newest = 0] = (await this.#generations()).marks
      if (newest === last || newest === 0) return newest
      if ((await this.#place(session, newest).catch(unless(isAbsent))) !== undefined) last = newest
    }
    throw new Error(`Cannot write the session marks in ${folderName}.`)
  }

  /** A deleted session has no mark, unless it was created again. */
  async forget(session: string): Promise<void> {
    const { marks } = await this.#generations()
    for (const each of marks) await this.#operations.remove(join(this.#marks(each), session)).catch(unless(isAbsent))
    const isThere = marks.length > 0 && (await this.#operations.list(join(this.#root, session)).catch(unless(isAbsent)))
    if (isThere) await this.mark(session)
  }

  /**
   * Starts a generation if it saves enough folder inspections (`looks`). Its index may contain sessions inspected from now on. Returns
   * `undefined` if it is not worthwhile or another process starts one.
   */
  async begin({ madeAt }: KnownEnds, looks: number): Promise<number | undefined> {
    if (this.#isMaking || looks <= this.#limits.looks || Math.abs(Date.now() - madeAt) <= this.#limits.ageMs) return undefined
    this.#isMaking = true
    try {
      const generation = await this.#begin()
      this.#isMaking = generation !== undefined
      return generation
    } catch (error) {
      this.#isMaking = false
      throw error
    }
  }

  /** Writes the index of a generation started here, and removes older ones. */
  async write(generation: number, ends: KnownEnds['ends']): Promise<void> {
    try {
      await this.#write(generation, ends)
    } finally {
      this.#isMaking = false
    }
  }

  async #begin(): Promise<number | undefined> {
    const { index, marks } = await this.#generations()
    const generation = Math.max(0, ...index, ...marks) + 1
    await makeDurableDirectory(this.#operations, this.#folder)
    try {
      await this.#operations.makeDirectory(this.#marks(generation))
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return undefined
      throw error
    }
    await this.#operations.syncDirectory(this.#folder)
    return generation
  }

  async #write(generation: number, ends: KnownEnds['ends']): Promise<void> {
    const operations = this.#operations
    const target = this.#index(generation)
    const unfinished = `${target}.tmp`
    await operations.createExclusive(unfinished)
    try {
      await operations.append(unfinished, textOf(ends))
      await operations.sync(unfinished)
      await operations.rename(unfinished, target)
    } catch (error) {
      await operations.remove(unfinished).catch(() => {})
      throw error
    }
    await operations.syncDirectory(this.#folder)
    await this.#removeBefore(generation)
  }

  async #readIndex(generation: number, marks: readonly number[]): Promise<KnownEnds> {
    const operations = this.#operations
    const path = this.#index(generation)
    const { modified } = await operations.stat(path)
    const ends = endsIn(await operations.read(path))
    if (ends === undefined) return nothingKnown
    const marked = new Set<string>()
    for (const each of marks) if (each >= generation) for (const name of await operations.list(this.#marks(each))) marked.add(name)
    return { ends, marked, madeAt: modified }
  }

  async #place(session: string, generation: number): Promise<true> {
    const operations = this.#operations
    const path = join(this.#marks(generation), session)
    if (await createdFirst(operations, path)) await operations.close?.(path)
    await operations.syncDirectory(this.#marks(generation))
    if (this.#durable !== generation) await operations.syncDirectory(this.#folder)
    this.#durable = generation
    return true
  }

  /** Ignores the failure, because remaining files are no longer read. */
  async #removeBefore(generation: number): Promise<void> {
    const operations = this.#operations
    for (const name of await operations.list(this.#folder)) {
      const [, kind, number, unfinished] = pattern.exec(name) ?? []
      if (kind === undefined || Number(number) >= generation) continue
      const path = join(this.#folder, name)
      if (kind === 'index' || unfinished !== undefined) await operations.remove(path).catch(() => {})
      else await this.#removeMarks(path).catch(() => {})
    }
  }

  async #removeMarks(path: string): Promise<void> {
    const operations = this.#operations
    for (const name of await operations.list(path)) await operations.remove(join(path, name)).catch(unless(isAbsent))
    await operations.removeDirectory(path)
  }

  /** Newest first. */
  async #generations(): Promise<{ index: number[]; marks: number[] }> {
    const found = { index: [] as number[], marks: [] as number[] }
    const names = (await this.#operations.list(this.#folder).catch(unless(isAbsent))) ?? []
    for (const name of names) {
      const [, kind, number, unfinished] = pattern.exec(name) ?? []
      if (kind !== undefined && unfinished === undefined) found[kind === 'index' ? 'index' : 'marks'].push(Number(number))
    }
    found.index.sort((a, b) => b - a)
    found.marks.sort((a, b) => b - a)
    return found
  }

  #marks(generation: number): string {
    return join(this.#folder, `marks.${generation}`)
  }

  #index(generation: number): string {
    return join(this.#folder, `index.${generation}`)
  }
}

function unless(isFine: (error: unknown) => boolean): (error: unknown) => undefined {
  return (error) => {
    if (!isFine(error)) throw error
  }
}

/** Formats two lines: the checksum of the second line, and the second line. */
function textOf(ends: KnownEnds['ends']): string {
  const rows = [...ends].map(([folder, { name, size, modified, status }]) => [folder, name, size, modified, status])
  const body = JSON.stringify(rows)
  return `${JSON.stringify({ version, sha256: checksumOf(body) })}\n${body}\n`
}

/** Returns `undefined` for a damaged index or another version. */
function endsIn(text: string): KnownEnds['ends'] | undefined {
  const [head = '', body = ''] = text.split('\n')
  if (head !== JSON.stringify({ version, sha256: checksumOf(body) })) return undefined
  // The checksum proves that `textOf` has written it.
  const rows = JSON.parse(body) as [folder: string, name: string, size: number, modified: number, status: SessionStatus | null][]
  return new Map(rows.map(([folder, name, size, modified, status]) => [folder, { name, size, modified, ...(status && { status }) }]))
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

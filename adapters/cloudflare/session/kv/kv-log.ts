import { splitText } from '../../../../src/base/text/characters.ts'
import type { LogLine } from '../../../../src/session.ts'
import { type LogKey, type LogKeyMetadata, logKeyName, logPrefix, parseLogKey } from './kv-key.ts'
import { type KvNamespace, listKeys } from './kv-namespace.ts'

/** Maximum keys and characters per bulk read, because KV limits responses to 25 MB. */
const bulkKeys = 100
const bulkChars = 8_000_000

/** A value to write. */
interface LogValue {
  seq: number
  lines: number
  chunk?: number
  chunks?: number
  whole?: number
  text: string
}

/** Writes lines in order, several per value if they fit. Every key is new. If it rejects, some of the first lines may be stored. */
export async function writeLines(
  namespace: KvNamespace,
  place: { sessionId: string; epoch: number; writer: string; from: number },
  lines: readonly LogLine[],
  maxValueBytes: number,
): Promise<void> {
  for (const { text, seq, chunk, chunks, whole, lines: count } of valuesOf(lines, maxValueBytes)) {
    const key = { epoch: place.epoch, writer: place.writer, seq, ...(chunk !== undefined && { chunk }) }
    const of = { from: place.from, ...(whole !== undefined && { whole }) }
    const metadata: LogKeyMetadata = { lines: count, chars: text.length, ...(chunks !== undefined && { chunks }), ...of }
    await namespace.put(logKeyName(place.sessionId, key), text, { metadata })
  }
}

function valuesOf(lines: readonly LogLine[], maxValueBytes: number): LogValue[] {
  const values: LogValue[] = []
  for (const { seq, text, whole } of lines) {
    const of = { seq, lines: 1, ...(whole !== undefined && { whole }) }
    const pieces = splitText(text, maxValueBytes)
    const last = values.at(-1)
    if (pieces.length > 1) values.push(...pieces.map((piece, chunk) => chunkOf({ ...of, text: piece, chunk }, pieces.length)))
    else if (last !== undefined && last.chunk === undefined && (last.text.length + 1 + text.length) * 3 <= maxValueBytes) {
      last.text += `\n${text}`
      last.lines++
    } else values.push({ ...of, text })
  }
  return values
}

function chunkOf(value: LogValue & { chunk: number }, chunks: number): LogValue {
  // The line counts only with the piece that contains the number of pieces.
  return value.chunk === chunks - 1 ? { ...value, chunks } : value
}

/** Returns the visible keys of a session's log, ordered by epoch, then by write order. */
export async function logKeys(namespace: KvNamespace, sessionId: string, onProgress?: () => void): Promise<LogKey[]> {
  const keys = await listKeys(namespace, logPrefix(sessionId), onProgress)
  return keys.flatMap(({ name, metadata }) => parseLogKey(name, metadata) ?? [])
}

/** The result of `readLines`. */
export interface KvLines {
  lines: string[]
  /** Whether there are more lines, because keys or values are not visible yet. */
  isLate: boolean
}

/** One writer's lines up to the first gap. */
interface Part {
  epoch: number
  from?: number
  whole?: number
  /** The pieces of one line, or a value with several lines. */
  groups: LogKey[][]
  /** Next `seq`. */
  next: number
  isLate: boolean
}

/**
 * Returns the lines of these keys, without those up to `after` unless they share a value with later ones.
 *
 * **Contract**
 * - Keys and values become visible in any order. Lines after a gap in one writer's lines do not count, because an import with a missing
 *   value would look damaged.
 * - A line without its last piece is omitted, because it was never acknowledged.
 */
export async function readLines(namespace: KvNamespace, keys: readonly LogKey[], after = 0, onProgress?: () => void): Promise<KvLines> {
  const parts = partsOf(keys)
  for (const part of parts) part.groups = part.groups.filter((group) => endOf(group) > after + 1)
  const values = new Map<string, string | null>()
  for (const batch of batchesOf(parts.flatMap(({ groups }) => groups.flat()))) {
    for (const [name, value] of await readBatch(namespace, batch)) values.set(name, value)
    onProgress?.()
  }
  return { lines: parts.flatMap((part) => seenLines(part, values)), isLate: isAnyLate(countingParts(parts)) }
}

function seenLines(part: Part, values: ReadonlyMap<string, string | null>): string[] {
  const lines: string[] = []
  for (const group of part.groups) {
    const texts = group.flatMap((key) => values.get(key.name) ?? [])
    if (texts.length < group.length) {
      part.next = group[0]?.seq ?? 0
      part.isLate = true
      return lines
    }
    for (const line of texts.join('').split('\n')) lines.push(line)
  }
  return lines
}

/** Returns the parts starting at the newest complete session. Older parts may already be deleted. */
function countingParts(parts: readonly Part[]): Part[] {
  const since = parts.findLast(({ whole, next }) => whole !== undefined && next > whole)?.epoch ?? 0
  return parts.filter(({ epoch }) => epoch >= since)
}

function partsOf(keys: readonly LogKey[]): Part[] {
  const parts = new Map<string, Part>()
  for (const group of grouped(keys)) {
    const [first] = group
    if (first === undefined) continue
    const { epoch, seq, writer, metadata } = first
    const { from = seq, whole } = metadata
    const part = parts.get(`${epoch} ${writer}`) ?? {
      epoch,
      groups: [],
      next: from,
      isLate: false,
      ...(metadata.from !== undefined && { from }),
      ...(whole !== undefined && { whole }),
    }
    parts.set(`${epoch} ${writer}`, part)
    addGroup(part, group, seq)
  }
  return [...parts.values()]
}

function addGroup(part: Part, group: LogKey[], seq: number): void {
  const { chunk, metadata } = group.at(-1) ?? {}
  if (seq !== part.next) part.isLate = true
  if (part.isLate) return
  if (chunk === undefined || metadata?.chunks === group.length) {
    part.groups.push(group)
    part.next = endOf(group)
  } else if (metadata?.chunks !== undefined) part.isLate = true
}

/** Returns the `seq` after its last line. */
function endOf(group: readonly LogKey[]): number {
  const [first] = group
  return first === undefined ? 0 : first.seq + first.metadata.lines
}

/** Returns whether there is a gap within a writer's lines, or before them. */
function isAnyLate(parts: readonly Part[]): boolean {
  let next = 1
  for (const { from = 1, whole, next: end, isLate } of parts) {
    if (isLate || (whole === undefined && from > next)) return true
    if (whole === undefined || end > whole) next = Math.max(next, end)
  }
  return false
}

/** Groups the pieces of each line, which are adjacent. */
function grouped(keys: readonly LogKey[]): LogKey[][] {
  const groups: LogKey[][] = []
  for (const key of keys) {
    const group = groups.at(-1)
    const first = group?.[0]
    const isNext = first !== undefined && first.seq === key.seq && first.writer === key.writer && first.epoch === key.epoch
    if (isNext) group?.push(key)
    else groups.push([key])
  }
  return groups
}

function batchesOf(keys: readonly LogKey[]): string[][] {
  const batches: string[][] = []
  let chars = 0
  for (const { name, metadata } of keys) {
    const batch = batches.at(-1)
    chars += metadata.chars
    if (batch !== undefined && batch.length < bulkKeys && chars <= bulkChars) batch.push(name)
    else {
      batches.push([name])
      chars = metadata.chars
    }
  }
  return batches
}

async function readBatch(namespace: KvNamespace, names: string[]): Promise<Iterable<[string, string | null]>> {
  const [only] = names
  if (names.length === 1 && only !== undefined) return [[only, await namespace.get(only)]]
  return namespace.get(names)
}

import type { LogLine } from '../../../../src/session/index.ts'
import { splitText } from '../split-text.ts'
import { type LogKey, logKeyName, logPrefix, parseLogKey } from './kv-key.ts'
import { type KvNamespace, listKeys } from './kv-namespace.ts'

/** What one bulk read may ask for, and about how much text it may bring: KV ends at 25 MB. */
const bulkKeys = 100
const bulkChars = 8_000_000

/** One value to write. */
interface LogValue {
  seq: number
  lines: number
  chunk?: number
  chunks?: number
  text: string
}

/**
 * Writes lines in their order, several into one value as long as they fit. Every key is new. When it rejects, the lines of a beginning are
 * there.
 */
export async function writeLines(
  namespace: KvNamespace,
  place: { sessionId: string; epoch: number; writer: string },
  lines: readonly LogLine[],
  maxValueBytes: number,
): Promise<void> {
  for (const { text, seq, chunk, chunks, lines: count } of valuesOf(lines, maxValueBytes)) {
    const key = { epoch: place.epoch, writer: place.writer, seq, ...(chunk !== undefined && { chunk }) }
    const metadata = { lines: count, chars: text.length, ...(chunks !== undefined && { chunks }) }
    await namespace.put(logKeyName(place.sessionId, key), text, { metadata })
  }
}

function valuesOf(lines: readonly LogLine[], maxValueBytes: number): LogValue[] {
  const values: LogValue[] = []
  for (const { seq, text } of lines) {
    const pieces = splitText(text, maxValueBytes)
    const last = values.at(-1)
    if (pieces.length > 1) values.push(...pieces.map((piece, chunk) => chunkOf(seq, piece, chunk, pieces.length)))
    else if (last !== undefined && last.chunk === undefined && (last.text.length + 1 + text.length) * 3 <= maxValueBytes) {
      last.text += `\n${text}`
      last.lines++
    } else values.push({ seq, lines: 1, text })
  }
  return values
}

function chunkOf(seq: number, text: string, chunk: number, chunks: number): LogValue {
  const value = { seq, lines: 1, chunk, text }
  // Until the piece that says how many there are is there, the line is not.
  return chunk === chunks - 1 ? { ...value, chunks } : value
}

/** The keys of a session's log, as far as KV shows them, in the order of epoch, then of writing. */
export async function logKeys(namespace: KvNamespace, sessionId: string): Promise<LogKey[]> {
  const keys = await listKeys(namespace, logPrefix(sessionId))
  return keys.flatMap(({ name, metadata }) => parseLogKey(name, metadata) ?? [])
}

/** What `readLines` found. */
export interface KvLines {
  lines: string[]
  /** Keys that were listed, but whose value is not visible here yet. */
  unseen: number
}

/** The lines behind these keys. Lines of which a piece is missing are left out: nobody was told that they are stored. */
export async function readLines(namespace: KvNamespace, keys: readonly LogKey[]): Promise<KvLines> {
  const whole = grouped(keys).filter(isComplete)
  const values = new Map<string, string | null>()
  for (const batch of batchesOf(whole.flat())) {
    for (const [name, value] of await readBatch(namespace, batch)) values.set(name, value)
  }
  const lines: string[] = []
  let unseen = 0
  for (const group of whole) {
    const texts = group.flatMap((key) => values.get(key.name) ?? [])
    unseen += group.length - texts.length
    if (texts.length === group.length) lines.push(...texts.join('').split('\n'))
  }
  return { lines, unseen }
}

/** The pieces of one line together. They follow each other. */
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

function isComplete(group: readonly LogKey[]): boolean {
  const last = group.at(-1)
  return last?.chunk === undefined || last.metadata.chunks === group.length
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

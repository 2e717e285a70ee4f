import { checkStore } from '../../base/argument-checks.ts'
import { bytesOfBase64, toBase64 } from '../../base/base64.ts'
import { isBytesOf } from '../../base/hash.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { mediaIn, withData } from '../../base/json/media-blocks.ts'
import { SessionError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import { isBase64, type StoredBytes } from '../../contract/message/media.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, aText, options as optionsOf } from '../../contract/shape/shape.ts'
import type { SessionStore } from '../../types/session/session-store.ts'
import { hashesIn, isLost } from '../media/kept-media.ts'
import { agentIdOf } from './digest.ts'
import { LogReader } from './read-log.ts'
import { encodeLine, encodeRecord, lineStart } from './record-codec.ts'

/** First line of an exported session. */
interface ExportHead {
  format: typeof format
  version: number
  sessionId: string
  agentId: string
  records: number
}

const format = 'phi-core session'
/** An export without blobs stays readable for older versions. */
const versions = { plain: 1, withMedia: 2 }
/** Writer id in all exports, so that equal records produce equal text. */
const writer = 'export'

/** Options for `importSession`. */
export interface ImportSessionOptions {
  /** Session id to use in the store. Default: the exported id. */
  sessionId?: string
  /** Whether to replace an existing session with this id. Default: `false`, which rejects with `conflict`. */
  replace?: boolean
}

const importOptions = optionsOf<ImportSessionOptions>({ sessionId: aText, replace: aFlag })

/**
 * Exports a session's whole log as text: JSON lines with a checksum per record. `importSession` restores the session in any store,
 * including an unfinished run, pending approvals and started idempotent calls.
 *
 * **Contract**
 * - Equal records produce equal text in every store and runtime.
 * - Close the agent that writes the session first (`agent.close()`): unwritten records are not included.
 * - Each blob is included once, as base64, before the first record that references it. Missing blobs are marked.
 * - Rejects with `SessionError` `notFound`, or `invalidSession` if the log is damaged: salvage it first. Rejects with `quota` if the text
 *   exceeds the maximum string length (512 Mi units in V8). Use `exportSessionLines` for such sessions.
 *
 * Source: docs/concepts/sessions.md
 */
export async function exportSession(store: Pick<SessionStore, 'tail' | 'blob'>, sessionId: string): Promise<string> {
  const lines: string[] = []
  for await (const line of exportSessionLines(store, sessionId)) lines.push(line)
  try {
    return lines.join('')
  } catch (cause) {
    // Runtimes do not expose their maximum string length; V8 throws a RangeError at 512 Mi units.
    const message = `Session ${sessionId} is too long to export as one string.`
    throw new SessionError('quota', message, { cause, hint: 'Use exportSessionLines and write line by line.' })
  }
}

/**
 * Yields the lines of `exportSession`, each with its line break, for sessions that exceed the maximum string length. `importSession`
 * accepts them. Rejects at the first line, like `exportSession`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function* exportSessionLines(
  store: Pick<SessionStore, 'tail' | 'blob'>,
  sessionId: string,
): AsyncGenerator<string, void, undefined> {
  checkStore(store, 'tail')
  const { records, damage } = await store.tail(sessionId)
  if (damage !== undefined) {
    throw new SessionError('invalidSession', `Cannot export session ${sessionId}: ${damage.reason} Salvage it and export the result.`)
  }
  const version = hashesIn(records).size > 0 ? versions.withMedia : versions.plain
  const head: ExportHead = { format, version, sessionId, agentId: agentIdOf(records), records: records.length }
  yield `${JSON.stringify(head)}\n`
  const place = { epoch: 1, writer, from: 1, whole: records.length }
  const writtenHashes = new Set<string>()
  for (const [at, record] of records.entries()) {
    const media = mediaIn(record).flatMap(({ blob }) => blob ?? [])
    for (const blob of media) if (!writtenHashes.has(blob.hash)) yield await blobLine(store, sessionId, blob)
    for (const { hash } of media) writtenHashes.add(hash)
    yield `${encodeLine(lineStart(place, media.length > 0), at + 1, encodeRecord(record))}\n`
  }
}

/**
 * Stores the output of `exportSession` record by record and verifies it. Resolves to the session's id.
 *
 * **Contract**
 * - `text` may be an iterable of chunks cut anywhere, such as `exportSessionLines` or a file stream.
 * - Atomic, even if the process ends. The new log is written next to the old one, becomes valid with its last record, and is verified
 *   before the old log is deleted.
 * - Rejects without writing: `invalidSession` for modified or incomplete text, `newerSchema` for a newer version, `conflict` if the id
 *   exists.
 * - Exporting the imported session produces the same text, except for the id.
 * - Also rejects with the `SessionError` codes `invalidId`, `quota` and `io`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function importSession(
  store: SessionStore,
  text: string | Iterable<string> | AsyncIterable<string>,
  options: ImportSessionOptions = {},
): Promise<string> {
  checkStore(store, 'open', 'delete')
  checkOptions(options, importOptions)
  const { head, records, blobs } = await parseExport(typeof text === 'string' ? [text] : text)
  const { sessionId = head.sessionId, replace = false } = options
  const target = await store.open(sessionId, { agentId: head.agentId })
  try {
    if (target.records.length > 0 && !replace) {
      throw new SessionError('conflict', `Session ${sessionId} already exists. Import it under another id, or pass replace: true.`)
    }
    await target.replace(records.map(({ epoch: _epoch, seq: _seq, ...record }) => withData(record, blobs)))
  } finally {
    await target.close()
  }
  return sessionId
}

/** Parses an export. Rejects with `SessionError` `invalidSession` and `newerSchema`. */
async function parseExport(
  pieces: Iterable<string> | AsyncIterable<string>,
): Promise<{ head: ExportHead; records: SessionRecord[]; blobs: ReadonlyMap<string, string | undefined> }> {
  let head: ExportHead | undefined
  const reader = new LogReader(0)
  const blobs = new Map<string, string | undefined>()
  for await (const line of linesOf(pieces)) {
    if (head === undefined) head = headOf(line)
    else if (head.version === versions.withMedia && line.startsWith('{"blob":')) blobs.set(...(await readBlobLine(line)))
    else reader.add(line)
  }
  head ??= headOf('')
  const { records, damage, hasNewer } = reader.end()
  if (hasNewer) throw newer()
  if (head.records === 0) throw invalid('it has no records.')
  if (damage !== undefined || records.length !== head.records) {
    throw invalid(damage?.reason ?? `it has ${records.length} of ${head.records} records.`)
  }
  for (const hash of hashesIn(records)) if (!blobs.has(hash)) throw invalid(`the bytes ${hash.slice(0, 64)} are missing.`)
  return { head, records, blobs }
}

/** Yields a text's non-empty lines. */
async function* linesOf(pieces: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let begun: string[] = []
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      const line = [...begun, piece.slice(start, end)].join('').replace(/\r$/, '')
      begun = []
      start = end + 1
      if (line !== '') yield line
    }
    begun.push(piece.slice(start))
  }
  const last = begun.join('').replace(/\r$/, '')
  if (last !== '') yield last
}

function headOf(line: string): ExportHead {
  const value = parsedJson(line)
  if (!isObject(value) || value.format !== format) throw invalid('its first line is not that of an exported session.')
  const { version, sessionId, agentId, records } = value
  if (version !== versions.plain && version !== versions.withMedia) throw newer()
  if (typeof sessionId !== 'string' || typeof agentId !== 'string' || !Number.isSafeInteger(records))
    throw invalid('its first line is incomplete.')
  return { format, version, sessionId, agentId, records: Number(records) }
}

/** Returns a line that contains a blob and its hash, or a line that marks the blob as lost. */
async function blobLine(store: Pick<SessionStore, 'blob'>, sessionId: string, { hash, bytes }: StoredBytes): Promise<string> {
  const blob = { hash, bytes }
  try {
    return `${JSON.stringify({ blob, data: toBase64(await store.blob(sessionId, hash)) })}\n`
  } catch (error) {
    if (isLost(error)) return `${JSON.stringify({ blob, lost: true })}\n`
    throw error
  }
}

async function readBlobLine(line: string): Promise<[hash: string, data: string | undefined]> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    value = undefined
  }
  const { blob, data, lost } = Object(value) as { blob?: unknown; data?: unknown; lost?: unknown } // Checked below.
  if (!isObject(blob) || typeof blob.hash !== 'string') throw invalid('a line with bytes is cut or changed.')
  if (lost === true && data === undefined) return [blob.hash, undefined]
  const isWhole = typeof data === 'string' && isBase64(data) && (await isBytesOf(blob.hash, bytesOfBase64(data)))
  if (!isWhole) throw invalid(`the bytes ${blob.hash.slice(0, 64)} are cut or changed.`)
  return [blob.hash, data]
}

function invalid(reason: string): SessionError {
  return new SessionError('invalidSession', `Cannot import the text: ${reason} Export the session again and pass the complete text.`)
}

function newer(): SessionError {
  return new SessionError('newerSchema', 'A newer version of phi-core exported this text. Update phi-core and import again.')
}

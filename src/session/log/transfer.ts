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

/** What the first line of an exported session says. */
interface ExportHead {
  format: typeof format
  version: number
  sessionId: string
  agentId: string
  records: number
}

const format = 'phi-core session'
/** Without bytes beside the records an export is as older versions know it. */
const versions = { plain: 1, withMedia: 2 }
/** Exports have no writer of their own, so that equal records give equal text. */
const writer = 'export'

/** How a session comes into a store. */
export interface ImportSessionOptions {
  /** The id it has there. Default: the one it had. */
  sessionId?: string
  /** Whether it takes the place of a session that is there under this id. Default `false`: then that is `conflict`. */
  replace?: boolean
}

const importOptions = optionsOf<ImportSessionOptions>({ sessionId: aText, replace: aFlag })

/**
 * The whole log of a session as text: lines of JSON, each record with a checksum. `importSession` brings it into any store, where it goes on with
 * everything that was pending: an unfinished run, calls that wait for an approval, idempotent calls that were begun.
 *
 * **Contract**
 * - The same records give the same text, in every store and on every runtime.
 * - Close the agent that writes the session first (`agent.close()`): what it has not written yet is not in it.
 * - Bytes beside the log stand once, as base64, before the first record that names them. Where they are lost, the text says so.
 * - Rejects with `SessionError` `notFound`; `invalidSession` where the log is damaged: salvage it first; `quota` where the text is longer than a string
 *   may be (in V8 512 Mi units): take `exportSessionLines`.
 *
 * Source: docs/concepts/sessions.md
 */
export async function exportSession(store: Pick<SessionStore, 'tail' | 'blob'>, sessionId: string): Promise<string> {
  const lines: string[] = []
  for await (const line of exportSessionLines(store, sessionId)) lines.push(line)
  try {
    return lines.join('')
  } catch (cause) {
    // No runtime says how long a string may be; V8 throws a RangeError at 512 Mi units.
    const message = `Session ${sessionId} is longer as text than a string may be.`
    throw new SessionError('quota', message, { cause, hint: 'Write what exportSessionLines gives, line by line.' })
  }
}

/**
 * What `exportSession` gives, line by line, each with its line break: for a session that is longer than a string may be. `importSession` takes it.
 * Rejects with the first line, as `exportSession`.
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
    throw new SessionError('invalidSession', `Session ${sessionId} is damaged: ${damage.reason} Salvage it, and export what that gives.`)
  }
  const version = hashesIn(records).size > 0 ? versions.withMedia : versions.plain
  const head: ExportHead = { format, version, sessionId, agentId: agentIdOf(records), records: records.length }
  yield `${JSON.stringify(head)}\n`
  const place = { epoch: 1, writer, from: 1, whole: records.length }
  const told = new Set<string>()
  for (const [at, record] of records.entries()) {
    const media = mediaIn(record).flatMap(({ blob }) => blob ?? [])
    for (const blob of media) if (!told.has(blob.hash)) yield await blobLine(store, sessionId, blob)
    for (const { hash } of media) told.add(hash)
    yield `${encodeLine(lineStart(place, media.length > 0), at + 1, encodeRecord(record))}\n`
  }
}

/**
 * Stores what `exportSession` gave, record by record, and reads it back. Resolves with the id of the session.
 *
 * **Contract**
 * - `text` may come in pieces, cut anywhere: the lines of `exportSessionLines`, or a file as it is read.
 * - All of it or nothing, whenever the process ends: the text is written beside the session that is there, counts with its last record, and is read
 *   back; only then the other one is deleted.
 * - `invalidSession` for text that was changed or cut, `newerSchema` for that of a newer version, `conflict` where the store has a session with
 *   this id; then nothing was written.
 * - An export of the imported session is the same text again, but for the id.
 * - Rejects with `SessionError`: also `invalidId`, `quota`, `io`.
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
      throw new SessionError('conflict', `There is a session ${sessionId} already. Import it under another id, or with replace: true.`)
    }
    await target.replace(records.map(({ epoch: _epoch, seq: _seq, ...record }) => withData(record, blobs)))
  } finally {
    await target.close()
  }
  return sessionId
}

/** Reads an export. Rejects with `SessionError` `invalidSession` and `newerSchema`. */
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

/** The lines of a text, without those that are empty. */
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

/** A line with bytes, which their hash protects; or one that says that they are lost. */
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
  const { blob, data, lost } = Object(value) as { blob?: unknown; data?: unknown; lost?: unknown } // checked below
  if (!isObject(blob) || typeof blob.hash !== 'string') throw invalid('a line with bytes is cut or changed.')
  if (lost === true && data === undefined) return [blob.hash, undefined]
  const isWhole = typeof data === 'string' && isBase64(data) && (await isBytesOf(blob.hash, bytesOfBase64(data)))
  if (!isWhole) throw invalid(`the bytes ${blob.hash.slice(0, 64)} are cut or changed.`)
  return [blob.hash, data]
}

function invalid(reason: string): SessionError {
  return new SessionError('invalidSession', `The text cannot be imported: ${reason} Export the session again, and send all of the text.`)
}

function newer(): SessionError {
  return new SessionError('newerSchema', 'The text was exported by a newer version of this package. Update it here, and import again.')
}

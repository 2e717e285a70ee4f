import { crc32 } from '../../base/hash.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { isHighSurrogate } from '../../base/text/characters.ts'
import { errorText, SessionError } from '../../contract/errors.ts'
import { fieldIn, isJsonObject, type JsonValue } from '../../contract/json.ts'
import { type SessionEntry, type SessionRecord, sessionEntry, type UnknownEntry } from '../../contract/session/session-record.ts'
import { fitsLog } from '../../contract/shape/read.ts'

/** Line versions. A log with a higher version is preserved but read-only. */
const versions = { plain: 1, withMedia: 2 }
const newest = versions.withMedia

/** A record without a position in a log. */
export interface UnplacedRecord {
  loopId?: string | undefined
  turnIndex?: number | undefined
  at?: number | undefined
  entry: SessionEntry | UnknownEntry
}

/** A line's position and writer. */
export interface LinePlace {
  epoch: number
  /** Random id per writer, to distinguish two writers that both claim the same epoch. */
  writer: string
  /** The first `seq` of this writer. */
  from: number
  /** Writer of the previous record. Absent if there is none. Other writers' lines after `from` are invalid. */
  base?: string
  /** For a session stored as a whole: its last `seq`. The lines are valid only if all are present, and replace everything before `from`. */
  whole?: number
  seq: number
}

/** A line with a valid checksum. */
export interface DecodedLine {
  place: LinePlace
  record: SessionRecord
  /** Whether a newer version wrote the line. If so, its entry is `unknown`. */
  isNewer: boolean
}

/** Reason why a line is invalid. `torn`: the end is missing. `newerSchema`: the line is complete, but in a newer format. */
export interface LineDamage {
  kind: 'torn' | 'corrupt' | 'newerSchema'
  reason: string
}

const encoder = new TextEncoder()
/** Buffer for computing checksums in chunks. */
const bytes = new Uint8Array(16 * 1024)
/** The length of `,"crc":"00000000"}`. */
const checksumLength = 18
const checksumForm = /^[0-9a-f]{8}$/
const checksumStart = ',"crc":"'
const bodyStart = ',"body":'
/** Start of a line in every version. */
const versionForm = /^\{"v":([1-9]\d{0,8})(?=[,}])/

/**
 * Encodes the position-independent part of a line, so that data is copied immediately and numbered later. Throws `SessionError`
 * `invalidSession` for data that is not JSON, such as a cycle.
 */
export function encodeRecord({ at = Date.now(), loopId, turnIndex, entry }: UnplacedRecord): string {
  const type = entry.type === 'unknown' ? entry.name : entry.type
  try {
    const head = { at, loopId, turnIndex, type }
    if (entry.type === 'unknown') return oneLine(`${fieldsOf(head)}${bodyStart}${unknownBody(entry)}`)
    const { type: _written, ...body } = entry
    return oneLine(fieldsOf({ ...head, body }))
  } catch (error) {
    throw new SessionError('invalidSession', `Cannot write a ${type} record as JSON: ${errorText(error)}`, { cause: error })
  }
}

/** Returns the JSON of an object without its braces. */
function fieldsOf(object: object): string {
  return JSON.stringify(object).slice(1, -1)
}

function unknownBody({ body, json }: UnknownEntry): string {
  return json !== undefined && !/[\r\n]/.test(json) ? json : JSON.stringify(body)
}

/** Escapes U+2028 and U+2029, which JSON allows in strings but some line readers, such as Node's, treat as line breaks. */
function oneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** Returns the prefix of a writer's lines. Lines that refer to blobs have another version, so that older releases do not misread them. */
export function lineStart({ epoch, writer, from, base, whole }: Omit<LinePlace, 'seq'>, withMedia = false): string {
  const v = withMedia ? versions.withMedia : versions.plain
  return `{${fieldsOf({ v, epoch, writer, from, base, whole })}`
}

/** Returns the line with its checksum: JSON without a line break. `start` comes from `lineStart`, `encoded` from `encodeRecord`. */
export function encodeLine(start: string, seq: number, encoded: string): string {
  const text = `${start},"seq":${seq},${encoded}`
  return `${text}${checksumStart}${checksumOf(text)}"}`
}

/** Returns the end index of a slice that is certain to fit the buffer, without splitting a surrogate pair. */
function pieceEnd(text: string, at: number): number {
  const end = at + Math.floor(bytes.length / 3)
  const isHalf = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
  return isHalf ? end - 1 : end
}

function checksumOf(text: string): string {
  let sum = 0
  for (let at = 0; at < text.length; ) {
    // Slice the string first, because engines copy the whole input even if only a part fits into the buffer.
    const { read, written } = encoder.encodeInto(text.slice(at, pieceEnd(text, at)), bytes)
    sum = crc32(bytes, 0, written, sum)
    at += read
  }
  return sum.toString(16).padStart(8, '0')
}

/**
 * Decodes a line of a log. Never throws.
 *
 * **Contract**
 * - An entry with an unknown type, version or body becomes `unknown` and keeps its text.
 * - An unreadable line that claims a newer version is `newerSchema`: only that version can tell whether it is damaged.
 */
export function decodeLine(stored: string): DecodedLine | LineDamage {
  const line = bareLine(stored)
  const decoded = decodeOwn(line)
  if (!('kind' in decoded) || !isOfNewerVersion(line)) return decoded
  return { kind: 'newerSchema', reason: 'A newer version of phi-core wrote a line.' }
}

/** Removes a byte order mark and a carriage return, which editors add. */
function bareLine(line: string): string {
  const start = line.charCodeAt(0) === 0xfeff ? 1 : 0
  const end = line.charCodeAt(line.length - 1) === 13 ? line.length - 1 : line.length
  return end - start === line.length ? line : line.slice(start, end)
}

function decodeOwn(line: string): DecodedLine | LineDamage {
  const end = Math.max(line.length - checksumLength, 0)
  const text = line.slice(0, end)
  const checksum = line.slice(-10, -2)
  const isWhole = line.startsWith(checksumStart, end) && line.endsWith('"}')
  if (!isWhole || checksumOf(text) !== checksum) {
    const isOther = isWhole && checksumForm.test(checksum)
    return isOther
      ? { kind: 'corrupt', reason: 'The checksum of a line does not match.' }
      : { kind: 'torn', reason: 'A line has no checksum at its end.' }
  }
  return decodeValue(parsedJson(line), text) ?? { kind: 'corrupt', reason: 'A line with a valid checksum is not a record.' }
}

/**
 * Returns whether a newer version wrote the line. A line with a damaged version number does not count: its checksum matches a known version
 * number.
 */
function isOfNewerVersion(line: string): boolean {
  const [start = '', digits] = versionForm.exec(line) ?? []
  const written = Number(digits ?? versionIn(line))
  if (!(written > newest)) return false
  if (digits === undefined) return true
  const rest = line.slice(start.length, -checksumLength)
  return Object.values(versions).every((known) => line.slice(-10, -2) !== checksumOf(`{"v":${known}${rest}`))
}

/** Returns the version of a JSON line with an unknown start. */
function versionIn(line: string): unknown {
  return fieldIn(parsedJson(line), 'v')
}

function decodeValue(value: unknown, text: string): DecodedLine | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const line = value as Record<string, unknown> // It is an object; the fields are checked below.
  const place = placeOf(line)
  const { v, at, loopId, turnIndex, type, body } = line
  if (place === undefined || !isCount(v) || typeof at !== 'number' || typeof type !== 'string' || body === undefined) return undefined
  if (loopId !== undefined && typeof loopId !== 'string') return undefined
  if (turnIndex !== undefined && typeof turnIndex !== 'number') return undefined
  const isNewer = v > newest
  const json = body as JsonValue // Parsed JSON.
  const entry: SessionRecord['entry'] = isNewer ? { type: 'unknown', name: type, body: json } : entryOf(type, json, text)
  const record: SessionRecord = { epoch: place.epoch, seq: place.seq, at, entry }
  if (loopId !== undefined) record.loopId = loopId
  if (turnIndex !== undefined) record.turnIndex = turnIndex
  return { place, record, isNewer }
}

function placeOf({ epoch, writer, from, base, whole, seq }: Record<string, unknown>): LinePlace | undefined {
  if (!isCount(epoch) || !isCount(from) || !isCount(seq) || typeof writer !== 'string' || seq < from) return undefined
  const place: LinePlace = { epoch, writer, from, seq }
  if (typeof base === 'string') place.base = base
  else if (base !== undefined) return undefined
  if (isCount(whole)) place.whole = whole
  else if (whole !== undefined) return undefined
  return place
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** `,"body":` cannot occur unescaped in a string, and only strings and numbers precede the body. */
function entryOf(name: string, body: JsonValue, text: string): SessionEntry | UnknownEntry {
  const entry: unknown = isJsonObject(body) ? { ...body, type: name } : body
  if (fitsLog(sessionEntry, entry)) return entry
  return { type: 'unknown', name, body, json: text.slice(text.indexOf(bodyStart) + bodyStart.length) }
}

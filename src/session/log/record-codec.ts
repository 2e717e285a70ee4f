import { crc32 } from '../../base/hash.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { isHighSurrogate } from '../../base/text/characters.ts'
import { errorText, SessionError } from '../../contract/errors.ts'
import { fieldIn, isJsonObject, type JsonValue } from '../../contract/json.ts'
import { type SessionEntry, type SessionRecord, sessionEntry, type UnknownEntry } from '../../contract/session/session-record.ts'
import { fitsLog } from '../../contract/shape/read.ts'

/** The versions of lines. A line of a higher one is kept, but a log that has one is not written to. */
const versions = { plain: 1, withMedia: 2 }
const newest = versions.withMedia

/** A record of any kind that has no place in a log yet. */
export interface UnplacedRecord {
  loopId?: string | undefined
  turnIndex?: number | undefined
  at?: number | undefined
  entry: SessionEntry | UnknownEntry
}

/** Where a line stands, and which lines it belongs to. */
export interface LinePlace {
  epoch: number
  /** Random, one per writer: tells the lines of two writers apart that both believe to have the same epoch. */
  writer: string
  /** The first `seq` of this writer. */
  from: number
  /** Who wrote the record before that; absent where there is none. What others have written from `from` on does not count. */
  base?: string
  /** In the lines of a whole session: its last `seq`. They count together or not at all, and nothing before `from` counts. */
  whole?: number
  seq: number
}

/** A line that is as it was written. */
export interface DecodedLine {
  place: LinePlace
  record: SessionRecord
  /** Written by a newer version: its entry is `unknown`. */
  isNewer: boolean
}

/** Why a line does not count. `torn`: its end is missing. `newerSchema`: it is whole, but of a version that writes other lines. */
export interface LineDamage {
  kind: 'torn' | 'corrupt' | 'newerSchema'
  reason: string
}

const encoder = new TextEncoder()
/** Where the checksum is made, a part of a line at a time. */
const bytes = new Uint8Array(16 * 1024)
/** The length of `,"crc":"00000000"}`. */
const checksumLength = 18
const checksumForm = /^[0-9a-f]{8}$/
const checksumStart = ',"crc":"'
const bodyStart = ',"body":'
/** Lines of every version begin like this. */
const versionForm = /^\{"v":([1-9]\d{0,8})(?=[,}])/

/**
 * The part of a line that does not depend on its place, so that what is to be stored is copied at once and placed later. Throws
 * `SessionError` `invalidSession` for what is no JSON, such as a circle.
 */
export function encodeRecord({ at = Date.now(), loopId, turnIndex, entry }: UnplacedRecord): string {
  const type = entry.type === 'unknown' ? entry.name : entry.type
  try {
    const head = { at, loopId, turnIndex, type }
    if (entry.type === 'unknown') return oneLine(`${fieldsOf(head)}${bodyStart}${unknownBody(entry)}`)
    const { type: _written, ...body } = entry
    return oneLine(fieldsOf({ ...head, body }))
  } catch (error) {
    throw new SessionError('invalidSession', `A record of type ${type} cannot be written as JSON: ${errorText(error)}`, { cause: error })
  }
}

/** The JSON of an object without its braces. */
function fieldsOf(object: object): string {
  return JSON.stringify(object).slice(1, -1)
}

function unknownBody({ body, json }: UnknownEntry): string {
  return json !== undefined && !/[\r\n]/.test(json) ? json : JSON.stringify(body)
}

/** Some readers of lines, that of Node among them, also break at these two, which JSON allows in a string. */
function oneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** What all lines of one writer begin with; those that name bytes beside the log, in another way: who does not know of such must not pass over them. */
export function lineStart({ epoch, writer, from, base, whole }: Omit<LinePlace, 'seq'>, withMedia = false): string {
  const v = withMedia ? versions.withMedia : versions.plain
  return `{${fieldsOf({ v, epoch, writer, from, base, whole })}`
}

/** The line of what `encodeRecord` gave, with its checksum: JSON without a line break. `start` is that of `lineStart`. */
export function encodeLine(start: string, seq: number, encoded: string): string {
  const text = `${start},"seq":${seq},${encoded}`
  return `${text}${checksumStart}${checksumOf(text)}"}`
}

/** Where a piece ends that fits into the buffer, whatever is in it: not between the two halves of a character. */
function pieceEnd(text: string, at: number): number {
  const end = at + Math.floor(bytes.length / 3)
  const isHalf = end < text.length && isHighSurrogate(text.charCodeAt(end - 1))
  return isHalf ? end - 1 : end
}

function checksumOf(text: string): string {
  let sum = 0
  for (let at = 0; at < text.length; ) {
    // A piece of its own: an engine copies all of the text that it is given, however little of that fits.
    const { read, written } = encoder.encodeInto(text.slice(at, pieceEnd(text, at)), bytes)
    sum = crc32(bytes, 0, written, sum)
    at += read
  }
  return sum.toString(16).padStart(8, '0')
}

/**
 * Reads a line of a log, whatever it holds: never throws.
 *
 * **Contract**
 * - An entry of a type, of a version or with a body that this version does not know is `unknown`, with its text as it was.
 * - A line that says that it is of a newer version is `newerSchema` where it cannot be read, whatever else is in it: only that version can tell
 *   whether it is damaged.
 */
export function decodeLine(stored: string): DecodedLine | LineDamage {
  const line = bareLine(stored)
  const decoded = decodeOwn(line)
  if (!('kind' in decoded) || !isOfNewerVersion(line)) return decoded
  return { kind: 'newerSchema', reason: 'A line was written by a newer version of this package.' }
}

/** Without what editors and copies leave at the ends of lines: a byte order mark, and the first half of a Windows line break. */
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
      ? { kind: 'corrupt', reason: 'The checksum of a line does not fit.' }
      : { kind: 'torn', reason: 'A line has no checksum at its end.' }
  }
  return decodeValue(parsedJson(line), text) ?? { kind: 'corrupt', reason: 'A line with a fitting checksum is no record.' }
}

/** Not where a line of this version has a damaged number: with the right one its checksum fits. */
function isOfNewerVersion(line: string): boolean {
  const [start = '', digits] = versionForm.exec(line) ?? []
  const written = Number(digits ?? versionIn(line))
  if (!(written > newest)) return false
  if (digits === undefined) return true
  const rest = line.slice(start.length, -checksumLength)
  return Object.values(versions).every((known) => line.slice(-10, -2) !== checksumOf(`{"v":${known}${rest}`))
}

/** Of a line that begins in another way but is JSON. */
function versionIn(line: string): unknown {
  return fieldIn(parsedJson(line), 'v')
}

function decodeValue(value: unknown, text: string): DecodedLine | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const line = value as Record<string, unknown> // just shown; what it holds is checked below
  const place = placeOf(line)
  const { v, at, loopId, turnIndex, type, body } = line
  if (place === undefined || !isCount(v) || typeof at !== 'number' || typeof type !== 'string' || body === undefined) return undefined
  if (loopId !== undefined && typeof loopId !== 'string') return undefined
  if (turnIndex !== undefined && typeof turnIndex !== 'number') return undefined
  const isNewer = v > newest
  const json = body as JsonValue // it comes from JSON.parse
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

/** No string can hold `,"body":` unescaped, and before the body there are only strings and numbers. */
function entryOf(name: string, body: JsonValue, text: string): SessionEntry | UnknownEntry {
  const entry: unknown = isJsonObject(body) ? { ...body, type: name } : body
  if (fitsLog(sessionEntry, entry)) return entry
  return { type: 'unknown', name, body, json: text.slice(text.indexOf(bodyStart) + bodyStart.length) }
}

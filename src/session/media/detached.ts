import { sha256Of } from '../../base/sha256.ts'
import { byteLengthOf, inlineMediaChars, isBase64 } from '../../contract/message/media.ts'
import { encodeRecord, type UnplacedRecord } from '../log/record-codec.ts'
import { withMedia } from './media-blocks.ts'

/** A record as text, and the bytes that belong beside the log. */
export interface EncodedRecord {
  /** What `encodeRecord` gives; hashes that are not known yet are marks. */
  text: string
  /** Bytes that go with it. */
  fresh: FreshBytes[]
  /** Hashes that it names. */
  hashes: string[]
}

/** Whether a record names bytes that are kept beside the log. */
export function hasMedia({ fresh, hashes }: EncodedRecord): boolean {
  return fresh.length + hashes.length > 0
}

/** Bytes that were taken out of a record, and what stands for their hash. */
export interface FreshBytes {
  mark: string
  /** As base64. */
  data: string
}

/**
 * `encodeRecord`, where large media stand by reference. What is to be stored is copied by it, as text: the bytes are in strings, which nobody changes.
 * With `asIs`, nothing is taken out.
 */
export function encodeDetached(record: UnplacedRecord, asIs = false): EncodedRecord {
  const fresh: FreshBytes[] = []
  const hashes: string[] = []
  if (asIs || record.entry.type === 'unknown') return { text: encodeRecord(record), fresh, hashes }
  const entry = withMedia(record.entry, (block) => {
    const { data, ...rest } = block
    if (data === undefined) {
      if (block.blob !== undefined) hashes.push(block.blob.hash)
      return block
    }
    if (!isDetachable(data)) return block
    const mark = newMark()
    fresh.push({ mark, data })
    return { ...rest, blob: { hash: mark, bytes: byteLengthOf(data) } }
  })
  return { text: encodeRecord({ ...record, entry }), fresh, hashes }
}

/** Of two spellings of the same bytes only one comes back. */
function isDetachable(data: string): boolean {
  if (data.length <= inlineMediaChars || !isBase64(data)) return false
  const end = data.slice(-4)
  return btoa(atob(end)) === end
}

/** As long as a hash, and nobody's: 256 random bits. */
function newMark(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes of base64 that was checked. */
export function bytesOfBase64(data: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(byteLengthOf(data))
  // A piece at a time: a text of all bytes would be a copy more.
  const pieceChars = 0x40000
  for (let start = 0, at = 0; start < data.length; start += pieceChars) {
    const piece = atob(data.slice(start, start + pieceChars))
    for (let index = 0; index < piece.length; index++) bytes[at++] = piece.charCodeAt(index)
  }
  return bytes
}

/** Whether `bytes` are what `hash` names. */
export async function isBytesOf(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  return (await sha256Of(bytes)) === hash
}

/** Whether a text can be the name of bytes: it becomes a part of file names and keys. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

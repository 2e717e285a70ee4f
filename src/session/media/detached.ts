import { withMedia } from '../../base/json/media-blocks.ts'
import type { MediaContent } from '../../contract/message/content.ts'
import { randomHex } from '../../contract/message/identity.ts'
import { byteLengthOf, inlineMediaChars, isBase64, type StoredBytes } from '../../contract/message/media.ts'
import { encodeRecord, type UnplacedRecord } from '../log/record-codec.ts'

/** An encoded record and its blobs. */
export interface EncodedRecord {
  /** Output of `encodeRecord`, with placeholders for unknown hashes. */
  text: string
  /** New blobs. */
  fresh: FreshBytes[]
  /** Hashes that the record references. */
  hashes: string[]
}

/** Returns whether a record refers to blobs. */
export function hasMedia({ fresh, hashes }: EncodedRecord): boolean {
  return fresh.length + hashes.length > 0
}

/** Media bytes removed from a record, and the placeholder for their hash. */
export interface FreshBytes {
  mark: string
  block: MediaContent
}

/** Encodes a record as text and extracts large media. With `asIs`, extracts nothing. */
export function encodeDetached(record: UnplacedRecord, asIs = false): EncodedRecord {
  const fresh: FreshBytes[] = []
  const hashes: string[] = []
  if (asIs || record.entry.type === 'unknown') return { text: encodeRecord(record), fresh, hashes }
  const entry = withMedia(record.entry, (block) => {
    const { data, blob } = block
    if (data === undefined) {
      if (blob !== undefined) hashes.push(blob.hash)
      return block
    }
    if (!isDetachable(data)) return block
    // A unique placeholder as long as a hash.
    const mark = randomHex(32)
    fresh.push({ mark, block })
    return byName(block, { hash: mark, bytes: byteLengthOf(data) })
  })
  return { text: encodeRecord({ ...record, entry }), fresh, hashes }
}

/** Returns a block that references its blob instead of containing the bytes. */
export function byName({ data: _bytes, ...rest }: MediaContent, blob: StoredBytes): MediaContent {
  return { ...rest, blob }
}

/**
 * Returns whether media are stored as a blob: only large media in canonical base64, because other encodings could not be restored exactly.
 */
export function isDetachable(data: string): boolean {
  if (data.length <= inlineMediaChars || !isBase64(data)) return false
  const end = data.slice(-4)
  return btoa(atob(end)) === end
}

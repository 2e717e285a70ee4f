import { withMedia } from '../../base/json/media-blocks.ts'
import type { MediaContent } from '../../contract/message/content.ts'
import { randomHex } from '../../contract/message/identity.ts'
import { byteLengthOf, inlineMediaChars, isBase64, type StoredBytes } from '../../contract/message/media.ts'
import { encodeRecord, type UnplacedRecord } from '../log/record-codec.ts'

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
  block: MediaContent
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
    const { data, blob } = block
    if (data === undefined) {
      if (blob !== undefined) hashes.push(blob.hash)
      return block
    }
    if (!isDetachable(data)) return block
    // As long as a hash, and nobody's.
    const mark = randomHex(32)
    fresh.push({ mark, block })
    return byName(block, { hash: mark, bytes: byteLengthOf(data) })
  })
  return { text: encodeRecord({ ...record, entry }), fresh, hashes }
}

/** A block with the name of its bytes in their place. */
export function byName({ data: _bytes, ...rest }: MediaContent, blob: StoredBytes): MediaContent {
  return { ...rest, blob }
}

/** Whether bytes are kept beside what names them: large ones. Of two spellings of the same bytes only one comes back. */
export function isDetachable(data: string): boolean {
  if (data.length <= inlineMediaChars || !isBase64(data)) return false
  const end = data.slice(-4)
  return btoa(atob(end)) === end
}

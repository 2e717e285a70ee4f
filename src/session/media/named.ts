import { bytesOfBase64 } from '../../base/base64.ts'
import { sha256Of } from '../../base/hash.ts'
import { mediaIn, withMedia } from '../../base/json/media-blocks.ts'
import type { MediaContent } from '../../contract/message/content.ts'
import { byName, isDetachable } from './detached.ts'

/** Blocks with a reference instead of bytes, cached by original block. */
const names = new WeakMap<MediaContent, MediaContent>()
/** Copies with references, cached by original object. */
const copies = new WeakMap<object, object>()

/** Returns the bytes and hash of a block, and remembers its reference. */
export async function hashed(block: MediaContent): Promise<{ hash: string; bytes: Uint8Array<ArrayBuffer> }> {
  const bytes = bytesOfBase64(block.data ?? '')
  const hash = names.get(block)?.blob?.hash ?? (await sha256Of(bytes))
  names.set(block, byName(block, { hash, bytes: bytes.length }))
  return { hash, bytes }
}

/**
 * Returns messages or an event with `blob` references instead of bytes that a log stores separately. The session contains these blobs after
 * it has recorded the messages.
 *
 * **Contract**
 * - Returns a promise only if bytes must be hashed. The same input always returns the same object.
 * - Input without such bytes is returned unchanged. Pass only values that no longer change.
 */
export function withNames<Value>(value: Value): Value | Promise<Value> {
  const unnamed = mediaIn(value).filter((block) => !names.has(block) && isLarge(block))
  if (unnamed.length === 0) return named(value)
  return Promise.all(unnamed.map(hashed)).then(() => named(value))
}

function named<Value>(value: Value): Value {
  return withMedia(value, (block) => names.get(block) ?? block, copies)
}

function isLarge({ data }: MediaContent): boolean {
  return data !== undefined && isDetachable(data)
}

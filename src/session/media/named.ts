import { bytesOfBase64 } from '../../base/base64.ts'
import { sha256Of } from '../../base/hash.ts'
import { mediaIn, withMedia } from '../../base/json/media-blocks.ts'
import type { MediaContent } from '../../contract/message/content.ts'
import { byName, isDetachable } from './detached.ts'

/** Blocks as they are called where their bytes stand beside. */
const names = new WeakMap<MediaContent, MediaContent>()
/** What has such blocks, with their names. */
const copies = new WeakMap<object, object>()

/** The bytes of a block that has them, and their hash. From then on its name is known. */
export async function hashed(block: MediaContent): Promise<{ hash: string; bytes: Uint8Array<ArrayBuffer> }> {
  const bytes = bytesOfBase64(block.data ?? '')
  const hash = names.get(block)?.blob?.hash ?? (await sha256Of(bytes))
  names.set(block, byName(block, { hash, bytes: bytes.length }))
  return { hash, bytes }
}

/**
 * `value`, messages or an event, with a `blob` in place of bytes that are kept beside a log: those that a session has under these names, once it has
 * recorded them.
 *
 * **Contract**
 * - A promise only where bytes are hashed for the first time. The same object comes of the same object.
 * - What has no such bytes is the same object, and nothing is changed in place. Call it with what does not change any more.
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

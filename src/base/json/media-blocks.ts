import { fieldIn } from '../../contract/json.ts'
import type { MediaContent } from '../../contract/message/content.ts'

/**
 * Keys under which records, sessions and events contain messages and tool results. The search skips values from tools or the application.
 */
const containers: ReadonlySet<string> = new Set(
  'entry loop loops base state overlay keepCompacted keepRecent turns events event request requestPayload message messages inputMessages outputMessage toolResults returned result partial partialResult delta'.split(
    ' ',
  ),
)

/** Caches copies, so that the same block and replacement always produce the same object. */
type Copies = WeakMap<object, object>

/**
 * Applies `change` to each media block in the messages of `value`, a record or an event. Returns the same object if it contains no media.
 * Modifies nothing in place.
 */
export function withMedia<Value>(value: Value, change: (block: MediaContent) => MediaContent, copies?: Copies): Value {
  // `changed` replaces each part with a part of the same type.
  return changed(value, { change, copies }) as Value
}

/** Returns the media blocks in the messages of `value` in order. */
export function mediaIn(value: unknown): MediaContent[] {
  const found: MediaContent[] = []
  withMedia(value, (block) => {
    found.push(block)
    return block
  })
  return found
}

/** Returns `value` with the base64 data from `found` instead of references. */
export function withData<Value>(value: Value, found: ReadonlyMap<string, string | undefined>, copies?: Copies): Value {
  if (found.size === 0) return value
  const filled = (block: MediaContent): MediaContent => {
    const { blob, ...rest } = block
    const data = blob && found.get(blob.hash)
    return data === undefined ? block : { ...rest, data }
  }
  return withMedia(value, filled, copies)
}

interface Change {
  change: (block: MediaContent) => MediaContent
  copies: Copies | undefined
}

function changed(value: unknown, by: Change): unknown {
  if (Array.isArray(value)) return eachOf(value, (item) => changed(item, by))
  if (typeof value !== 'object' || value === null) return value
  const before = by.copies?.get(value)
  if (before !== undefined) return before
  let copy: Record<string, unknown> | undefined
  for (const [name, part] of Object.entries(value)) {
    if (typeof part !== 'object' || part === null) continue
    const made = changedPart(name, part, by)
    if (made === part) continue
    copy ??= { ...value }
    copy[name] = made
  }
  if (copy !== undefined) by.copies?.set(value, copy)
  return copy ?? value
}

function changedPart(name: string, part: object, by: Change): unknown {
  if (name === 'content' && Array.isArray(part)) return eachOf(part, (block) => (isWhole(block) ? by.change(block) : block))
  // Handle a delta that contains a whole block.
  if (name === 'block') return isWhole(part) ? by.change(part) : part
  return containers.has(name) ? changed(part, by) : part
}

function isWhole(block: unknown): block is MediaContent {
  const type = fieldIn(block, 'type')
  return (type === 'image' || type === 'file') && typeof fieldIn(block, 'mimeType') === 'string'
}

function eachOf(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [at, item] of items.entries()) {
    const made = change(item)
    if (made === item) continue
    copy ??= [...items]
    copy[at] = made
  }
  return copy ?? items
}

import type { FileContent, ImageContent } from '../../contract/message/content.ts'

type Media = ImageContent | FileContent

/** Where messages, and results of tools, stand in records, sessions and events. What a tool or an application has made is not looked into. */
const containers: ReadonlySet<string> = new Set([
  ...['entry', 'loop', 'loops', 'base', 'state', 'overlay', 'keepCompacted', 'keepRecent', 'turns', 'events', 'event', 'request'],
  ...[
    'requestPayload',
    'message',
    'messages',
    'inputMessages',
    'outputMessage',
    'toolResults',
    'returned',
    'result',
    'partial',
    'partialResult',
  ],
])

/**
 * `value`, a record or what is made of records, with what `change` makes of each block of media in its messages. What has none is the same object;
 * nothing is changed in place.
 */
export function withMedia<Value>(value: Value, change: (block: Media) => Media): Value {
  // Each part is replaced by one of the same shape.
  return changed(value, change) as Value
}

/** The blocks of media in the messages of `value`, in order. */
export function mediaIn(value: unknown): Media[] {
  const found: Media[] = []
  withMedia(value, (block) => {
    found.push(block)
    return block
  })
  return found
}

function changed(value: unknown, change: (block: Media) => Media): unknown {
  if (Array.isArray(value)) return eachOf(value, (item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  let copy: Record<string, unknown> | undefined
  for (const [name, part] of Object.entries(value)) {
    if (typeof part !== 'object' || part === null) continue
    const made = name === 'content' && Array.isArray(part) ? blocksOf(part, change) : containers.has(name) ? changed(part, change) : part
    if (made === part) continue
    copy ??= { ...value }
    copy[name] = made
  }
  return copy ?? value
}

function blocksOf(content: readonly unknown[], change: (block: Media) => Media): readonly unknown[] {
  return eachOf(content, (block) => (isMedia(block) ? change(block) : block))
}

function isMedia(block: unknown): block is Media {
  if (typeof block !== 'object' || block === null || !('type' in block) || !('mimeType' in block)) return false
  return (block.type === 'image' || block.type === 'file') && typeof block.mimeType === 'string'
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

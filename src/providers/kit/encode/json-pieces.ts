import type { CacheStrategy, ToolDefinition } from '../../../contract/model/request.ts'
import { isSame } from '../history/beginnings.ts'

const escapes = /\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g

/**
 * Returns JSON that every provider accepts: lone surrogates, valid in JavaScript but in no request body, become U+FFFD. `JSON.stringify`
 * writes only those as `\ud…` escapes, so only texts that contain one cost a scan.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  // Matches whole escapes, so that an escaped backslash before "ud800" stays.
  return json.replace(escapes, (whole, body: string) => (body.length === 5 ? '\\ufffd' : whole))
}

/**
 * Memoizes `make` per object; the value is released with the object. The value must depend on the object alone, and the object must not
 * change afterwards (finished messages and tool definitions do not).
 *
 * A request body is a concatenation of such pieces, so each turn encodes only its new messages.
 */
export function perObject<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) {
      value = make(key)
      known.set(key, value)
    }
    return value
  }
}

/**
 * Returns tool definitions as comma-separated JSON. Each is encoded once, and the list is joined once while it stays the same.
 */
export function toolsEncoder(encode: (tool: ToolDefinition) => string): (tools: readonly ToolDefinition[]) => string {
  const one = perObject(encode)
  let last: { tools: readonly ToolDefinition[]; json: string } = { tools: [], json: '' }
  return (tools) => {
    if (!isSame(last.tools, tools, tools.length)) last = { tools: [...tools], json: tools.map(one).join(',') }
    return last.json
  }
}

/** Number of parts before they are joined. */
const maxParts = 64
/** Parts of at least this many characters are referenced, not copied: messages with files. */
const longPart = 64 * 1024

/**
 * Text that grows at its end and is forked often. It is joined in batches, which avoids both flattening a growing rope at each call and
 * copying everything per part.
 */
export class GrowingText {
  #joined = ''
  #parts: string[] = []
  #hasLong = false

  get isEmpty(): boolean {
    return this.#joined === '' && this.#parts.length === 0
  }

  /** Appends `part`. */
  append(part: string): void {
    if (part === '') return
    this.#parts.push(part)
    if (part.length >= longPart) this.#hasLong = true
  }

  /** Returns an independent copy that can grow further. */
  fork(): GrowingText {
    if (this.#parts.length > maxParts) {
      this.#joined = this.toString()
      this.#parts = []
      this.#hasLong = false
    }
    const fork = new GrowingText()
    fork.#joined = this.#joined
    fork.#parts = this.#parts.slice()
    fork.#hasLong = this.#hasLong
    return fork
  }

  toString(): string {
    if (!this.#hasLong) return this.#joined + this.#parts.join('')
    let text = this.#joined
    let from = 0
    for (const [at, part] of this.#parts.entries()) {
      if (part.length < longPart) continue
      text += this.#parts.slice(from, at).join('') + part
      from = at + 1
    }
    return text + this.#parts.slice(from).join('')
  }
}

/** Concatenates JSON lists. Without `join`, which copies megabytes. */
export function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

/** Concatenates any number of lists, and skips empty ones. */
export function joinedAll(texts: readonly string[]): string {
  return texts.reduce(joined, '')
}

/** Maximum cache breakpoints per request of Claude's protocols. Source: docs/concepts/context.md */
const maxMarks = 4

/** Part of a request that contains a cache breakpoint. */
type MarkedPart = 'cacheSystem' | 'cacheTools' | 'cacheMessages'

/** Cache breakpoints of one request: at most as many as the provider allows, in the parts of the strategy. */
export class CacheMarks {
  readonly #mark: (blocks: string) => string
  readonly #cache: CacheStrategy
  #left = maxMarks

  /** `mark` adds a breakpoint to the last block of a list. */
  constructor(cache: CacheStrategy, mark: (blocks: string) => string) {
    this.#cache = cache
    this.#mark = mark
  }

  /** Returns whether breakpoints are allowed in this part. */
  isWanted(part: MarkedPart): boolean {
    return this.#cache.type === 'auto' || (this.#cache.type === 'manual' && this.#cache[part])
  }

  /** Returns `blocks` with a breakpoint on the last one. Unchanged without blocks, or if none is left. */
  put(blocks: string): string {
    if (blocks === '' || this.#left === 0) return blocks
    this.#left -= 1
    return this.#mark(blocks)
  }

  /** Does the same as `put` for a separate part. */
  putIn(part: MarkedPart, blocks: string): string {
    return this.isWanted(part) ? this.put(blocks) : blocks
  }
}

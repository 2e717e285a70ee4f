import type { CacheStrategy, ToolDefinition } from '../../../contract/model/request.ts'
import { isSame } from '../history/beginnings.ts'

const escapes = /\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g

/**
 * Returns JSON that every provider accepts. Replaces lone surrogates, which are valid in JavaScript but not in a request body, with U+FFFD.
 * `JSON.stringify` writes only lone surrogates as `\ud…` escapes, so other texts need no scan.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  // Match whole escapes, so that an escaped backslash before "ud800" stays unchanged.
  return json.replace(escapes, (whole, body: string) => (body.length === 5 ? '\\ufffd' : whole))
}

/**
 * Memoizes `make` per object. The cache releases a value together with its object. The value must depend only on the object, and the object
 * must not change afterwards. This is true for finished messages and tool definitions.
 *
 * A request body concatenates such pieces, so each turn encodes only its new messages.
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
 * Returns tool definitions as comma-separated JSON. Encodes each definition once, and joins the list only when it changes.
 */
export function toolsEncoder(encode: (tool: ToolDefinition) => string): (tools: readonly ToolDefinition[]) => string {
  const one = perObject(encode)
  let last: { tools: readonly ToolDefinition[]; json: string } = { tools: [], json: '' }
  return (tools) => {
    if (!isSame(last.tools, tools, tools.length)) last = { tools: [...tools], json: tools.map(one).join(',') }
    return last.json
  }
}

/** Number of parts at which they are joined. */
const maxParts = 64
/** Parts of at least this many characters, such as messages with files, are referenced instead of copied. */
const longPart = 64 * 1024

/**
 * Append-only text that is forked often. Joins its parts in batches. This avoids both flattening a growing rope at each call and copying
 * the whole text for each part.
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

/** Concatenates JSON lists without `join`, which would copy megabytes. */
export function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

/** Concatenates any number of lists and skips empty lists. */
export function joinedAll(texts: readonly string[]): string {
  return texts.reduce(joined, '')
}

/** Maximum cache breakpoints per request of Claude's protocols. Source: docs/concepts/context.md */
const maxMarks = 4

/** A part of a request that can contain a cache breakpoint. */
type MarkedPart = 'cacheSystem' | 'cacheTools' | 'cacheMessages'

/** Places a request's cache breakpoints: up to the provider's limit, in the parts that the strategy selects. */
export class CacheMarks {
  readonly #mark: (blocks: string) => string
  readonly #cache: CacheStrategy
  #left = maxMarks

  /** `mark` adds a breakpoint to a list's last block. */
  constructor(cache: CacheStrategy, mark: (blocks: string) => string) {
    this.#cache = cache
    this.#mark = mark
  }

  /** Returns whether breakpoints are allowed in this part. */
  isWanted(part: MarkedPart): boolean {
    return this.#cache.type === 'auto' || (this.#cache.type === 'manual' && this.#cache[part])
  }

  /** Returns `blocks` with a breakpoint on the last block. Returns them unchanged if there are no blocks or no breakpoints left. */
  put(blocks: string): string {
    if (blocks === '' || this.#left === 0) return blocks
    this.#left -= 1
    return this.#mark(blocks)
  }

  /** Like `put`, for a separate part. */
  putIn(part: MarkedPart, blocks: string): string {
    return this.isWanted(part) ? this.put(blocks) : blocks
  }
}

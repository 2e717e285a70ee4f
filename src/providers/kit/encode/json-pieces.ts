import type { CacheStrategy, ToolDefinition } from '../../../contract/model/request.ts'
import { isSame } from '../history/beginnings.ts'

const escapes = /\\(u[dD][89a-fA-F][0-9a-fA-F]{2}|.)/g

/**
 * JSON text of `value` that every service accepts: lone surrogates, which are valid in JavaScript and in no request body,
 * become U+FFFD. `JSON.stringify` writes exactly those as `\ud…` escapes, so only texts that contain one pay for a scan.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  // Each escape is taken as a whole, so that an escaped backslash before "ud800" stays what it is.
  return json.replace(escapes, (whole, body: string) => (body.length === 5 ? '\\ufffd' : whole))
}

/**
 * `make` with a memory: the value of an object is made once and dropped with the object. What is remembered must follow from the
 * object alone, and the object must not change afterwards (finished messages and tool definitions do not).
 *
 * A request body is the concatenation of such pieces, so a turn encodes only what is new.
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
 * Tool definitions as comma-separated JSON, each made by `encode`: once per definition, and joined once as long as they stay the same.
 */
export function toolsEncoder(encode: (tool: ToolDefinition) => string): (tools: readonly ToolDefinition[]) => string {
  const one = perObject(encode)
  let last: { tools: readonly ToolDefinition[]; json: string } = { tools: [], json: '' }
  return (tools) => {
    if (!isSame(last.tools, tools, tools.length)) last = { tools: [...tools], json: tools.map(one).join(',') }
    return last.json
  }
}

/** How many parts are kept apart before they are joined. */
const maxParts = 64
/** Characters from which on a part is referred to, and not copied: a message with a file. */
const longPart = 64 * 1024

/**
 * Text that grows at its end and is forked often: joined in batches, so that neither a growing rope is flattened at each call nor all of it
 * copied for each part.
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

  /** The same text, to go on with apart from this one. */
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

/** Lists of JSON texts as one; not by `join`, which copies what may be megabytes. */
export function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

/** As {@link joined}, of any number; those that are empty leave nothing. */
export function joinedAll(texts: readonly string[]): string {
  return texts.reduce(joined, '')
}

/** How many cache breakpoints a request of Claude's protocols may have. Source: docs/concepts/context.md */
const maxMarks = 4

/** The part of a request that a cache breakpoint stands in. */
type MarkedPart = 'cacheSystem' | 'cacheTools' | 'cacheMessages'

/** The cache breakpoints of one request: as many as the service allows, in the parts that the strategy names. */
export class CacheMarks {
  readonly #mark: (blocks: string) => string
  readonly #cache: CacheStrategy
  #left = maxMarks

  /** `mark` puts a breakpoint behind the last of a list of blocks. */
  constructor(cache: CacheStrategy, mark: (blocks: string) => string) {
    this.#cache = cache
    this.#mark = mark
  }

  /** Whether breakpoints may stand in this part. */
  isWanted(part: MarkedPart): boolean {
    return this.#cache.type === 'auto' || (this.#cache.type === 'manual' && this.#cache[part])
  }

  /** Returns `blocks` with a breakpoint behind the last of them. Without blocks, or when none is left, returns them as they are. */
  put(blocks: string): string {
    if (blocks === '' || this.#left === 0) return blocks
    this.#left -= 1
    return this.#mark(blocks)
  }

  /** As `put`, in a part that stands by itself. */
  putIn(part: MarkedPart, blocks: string): string {
    return this.isWanted(part) ? this.put(blocks) : blocks
  }
}

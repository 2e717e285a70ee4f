import type { CacheStrategy } from '../../../contract/model/request.ts'

/** How many cache breakpoints a request of Claude's protocols may have. Source: docs/concepts/prompt-caching.md */
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

/** The call that a fragment belongs to. */
export interface ToolCallKey {
  key: number
  /** Whether the fragment starts the call. */
  isNew: boolean
}

/**
 * Assigns fragments to parallel tool calls. OpenAI numbers calls by `index`. Other backends omit it, repeat 0, or start at 1. Therefore a
 * new id with a name also starts a call.
 *
 * Source: docs/providers/openai.md
 */
export class ToolCallKeys {
  readonly #keyByIndex = new Map<number, number>()
  readonly #keyById = new Map<string, number>()
  /** Ids by key. Empty while unknown. */
  readonly #ids: string[] = []
  /** Names by key. */
  readonly #names: (string | undefined)[] = []
  #last = -1

  /** Returns the key of a fragment's call: its position among the message's calls. */
  keyOf(index: number | undefined, id: string | undefined, name: string | undefined): ToolCallKey {
    const numbered = index === undefined ? undefined : this.#keyByIndex.get(index)
    // A fragment with a new index but no id or name continues the last call. A later call with an id can still use the index.
    if (numbered === undefined && !id && !name && this.#last >= 0) return { key: this.#last, isNew: false }
    const known = index === undefined ? this.#withoutIndex(id, name) : numbered
    const isOther = known !== undefined && !!id && !!name && this.#ids[known] !== '' && this.#ids[known] !== id
    const key = known === undefined || isOther ? this.#ids.push('') - 1 : known
    if (index !== undefined) this.#keyByIndex.set(index, key)
    if (id && this.#ids[key] === '') {
      this.#ids[key] = id
      this.#keyById.set(id, key)
    }
    this.#names[key] ??= name
    this.#last = key
    return { key, isNew: key !== known }
  }

  /** Returns the calls of this name with an id, which a call without an id may repeat. */
  named(name: string): number[] {
    return [...this.#ids.keys()].filter((key) => this.#ids[key] !== '' && this.#names[key] === name)
  }

  #withoutIndex(id: string | undefined, name: string | undefined): number | undefined {
    const sameId = id ? this.#keyById.get(id) : undefined
    if (sameId !== undefined) return sameId
    // A name without a known id starts a call. Anything else continues the last call.
    return name || this.#last < 0 ? undefined : this.#last
  }
}

/** Which call a fragment belongs to. */
export interface ToolCallKey {
  key: number
  /** The fragment opens the call. */
  isNew: boolean
}

/**
 * Tells the fragments of parallel tool calls apart. OpenAI numbers them by `index`; other backends leave it out, repeat 0 for every
 * call, or start at 1, so an id that was not seen before opens a call as well when a name comes with it.
 *
 * Source: docs/providers/openai.md
 */
export class ToolCallKeys {
  readonly #keyByIndex = new Map<number, number>()
  readonly #keyById = new Map<string, number>()
  /** Ids by key; empty while unknown. */
  readonly #ids: string[] = []
  /** Names by key. */
  readonly #names: (string | undefined)[] = []
  #last = -1

  /** The key of the call that a fragment with these fields belongs to: the position among the calls of the message. */
  keyOf(index: number | undefined, id: string | undefined, name: string | undefined): ToolCallKey {
    const numbered = index === undefined ? undefined : this.#keyByIndex.get(index)
    // A number alone opens nothing: it goes on with the last call, and is free for the call that says who it is.
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

  /** The calls of this name that have an id: what has none may be one of them, once more. */
  named(name: string): number[] {
    return [...this.#ids.keys()].filter((key) => this.#ids[key] !== '' && this.#names[key] === name)
  }

  #withoutIndex(id: string | undefined, name: string | undefined): number | undefined {
    const sameId = id ? this.#keyById.get(id) : undefined
    if (sameId !== undefined) return sameId
    // A name without a known id begins a call; anything else goes on with the last one.
    return name || this.#last < 0 ? undefined : this.#last
  }
}

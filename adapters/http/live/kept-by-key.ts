const maxKept = 100

/**
 * What was made under a key, so that whoever asks again gets the same and nothing is made twice. The newest 100 are kept; what failed is not.
 */
export class KeptByKey<Made> {
  readonly #kept = new Map<string, Promise<Made>>()

  /** What was made under `key`; else what `make` makes. Without a key it is always made. */
  get(key: string | undefined, make: () => Promise<Made>): Promise<Made> {
    if (key === undefined) return make()
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    const made = make()
    this.#kept.set(key, made)
    // It may be asked for anew.
    made.catch(() => this.#kept.delete(key))
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest)
    return made
  }
}

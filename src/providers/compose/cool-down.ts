/**
 * Who has failed a short while ago, and is asked last for now. Of this process alone, like the models that share it.
 */
export class CoolDown<Key> {
  readonly #ms: number
  readonly #until = new Map<Key, number>()

  constructor(ms: number) {
    this.#ms = ms
  }

  /** `key` has failed; `retryAfterMs`: how long its service asked to wait. */
  failed(key: Key, retryAfterMs = 0): void {
    this.#until.set(key, performance.now() + Math.max(this.#ms, retryAfterMs))
  }

  /** `key` has answered. */
  worked(key: Key): void {
    this.#until.delete(key)
  }

  /** `keys` in their order, those that have failed lately behind the others, the one that may be asked soonest first. */
  order(keys: readonly Key[]): Key[] {
    const now = performance.now()
    const until = (key: Key): number => Math.max(this.#until.get(key) ?? 0, now)
    return keys.toSorted((a, b) => until(a) - until(b))
  }
}

import { LoadError } from '../../contract/errors.ts'

/** A chunk that is loaded on first use. See {@link lateChunk}. */
export interface LateChunk<Part> {
  /** The chunk if it is already loaded, so that callers need no promise. */
  readonly loaded: Part | undefined
  /** Loads the chunk. Rejects with `LoadError` on failure. The next call retries. */
  load(): Promise<Part>
}

/**
 * Declares a part of this package, or a third-party package, that is loaded on first use.
 *
 * **Contract**
 * - Calls `load` at most once if it succeeds. Every failure is a `LoadError`, which the loop neither retries like a network error nor sends
 *   to the model.
 * - Use it for a subsystem that a run may never need. Never load guards (approval, hooks, filters, redaction, error classification) late,
 *   because the file could be replaced before its first use.
 */
export function lateChunk<Part>(name: string, load: () => Promise<Part>): LateChunk<Part> {
  let loaded: Part | undefined
  return {
    get loaded() {
      return loaded
    },
    async load() {
      try {
        loaded ??= await load()
        return loaded
      } catch (error) {
        // A nested chunk throws an error that already contains its name.
        throw LoadError.isInstance(error) ? error : new LoadError(name, error)
      }
    },
  }
}

import { LoadError } from '../../contract/errors.ts'

/** A part of this package that is loaded on first use. See {@link lateChunk}. */
export interface LateChunk<Part> {
  /** The part if already loaded, so that callers need no promise. */
  readonly loaded: Part | undefined
  /** Loads the part. Rejects with `LoadError` on failure. The next call retries. */
  load(): Promise<Part>
}

/**
 * Declares a part of this package, or a third-party package, that is loaded on first use.
 *
 * **Contract**
 * - `load` is called at most once if it succeeds. A failure is always a `LoadError`. It is never retried like a network error and never
 *   sent to the model.
 * - Use it for a subsystem that a run may never need. Guards (approval, hooks, filters, redaction, error classification) are never loaded
 *   late, because the file could be replaced before its first use.
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
        // Thrown by a nested late part, which has already set its name.
        throw LoadError.isInstance(error) ? error : new LoadError(name, error)
      }
    },
  }
}

import { LoadError } from '../../contract/errors.ts'

/** A part of this package that is loaded on first use. See {@link lateChunk}. */
export interface LateChunk<Part> {
  /** The part, if it is loaded: no promise is needed then. */
  readonly loaded: Part | undefined
  /** Loads the part. Rejects with `LoadError` on failure; the next call tries again. */
  load(): Promise<Part>
}

/**
 * Declares a part of this package, or a third-party package, that is loaded on first use.
 *
 * **Contract**
 * - `load` is called at most once while it succeeds. A failure is always a `LoadError`: never a network error that is retried, never text
 *   for the model.
 * - For a whole subsystem that a run may never need. Guards (approval, hooks, filters, redaction, error classification) are never late,
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
        // From a nested late part, which has named itself.
        throw LoadError.isInstance(error) ? error : new LoadError(name, error)
      }
    },
  }
}

import { LoadError } from '../../contract/errors.ts'

/** A part of this package that is loaded when it is first needed. See {@link lateChunk}. */
export interface LateChunk<Part> {
  /** The part, once it is there: no promise is needed from then on. */
  readonly loaded: Part | undefined
  /** Resolves with the part; rejects with `LoadError` when it cannot be had, and tries again at the next call. */
  load(): Promise<Part>
}

/**
 * The one way in which this package loads a part of itself, or a third-party package, late.
 *
 * **Contract**
 * - `load` is called at most once while it succeeds. A failure is always a `LoadError`: never a network error that is retried, never a text
 *   for the model.
 * - For a whole subsystem that a run may never need. What guards (approval, hooks, filters, redaction, error classification) is never late:
 *   it could be replaced on disk before its first use.
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
        // A part of the part: it has said which one.
        throw LoadError.isInstance(error) ? error : new LoadError(name, error)
      }
    },
  }
}

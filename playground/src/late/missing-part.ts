/** Errors from failed imports. */
const failed = new WeakSet<object>()

// Vite reports every lazy chunk that fails to load. The error messages differ between browsers.
addEventListener('vite:preloadError', ({ payload }) => failed.add(payload))

/** A lazy chunk failed to load. `cause` is the browser's error. */
export class MissingPart extends Error {
  constructor(cause: unknown) {
    super('a part of the page could not be loaded', { cause })
  }
}

/** Returns whether an error means that a lazy chunk failed to load, because the network is down or a newer version was deployed. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof MissingPart || failed.has(Object(error))
}

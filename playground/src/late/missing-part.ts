/** Errors from failed imports. */
const failed = new WeakSet<object>()

// Vite reports every lazy part of the page that fails to load. The error messages differ between browsers.
addEventListener('vite:preloadError', ({ payload }) => failed.add(payload))

/** A part of the page could not be loaded. `cause` is the browser's error. */
export class MissingPart extends Error {
  constructor(cause: unknown) {
    super('a part of the page could not be loaded', { cause })
  }
}

/** Returns whether an error means that a part of the page could not be loaded, because the network is down or there is a newer version. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof MissingPart || failed.has(Object(error))
}

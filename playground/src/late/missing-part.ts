/** Errors of imports that the browser could not do. */
const failed = new WeakSet<object>()

// Vite tells of every part of the page that is loaded late and cannot be had. A browser says only in words of its own what it was.
addEventListener('vite:preloadError', ({ payload }) => failed.add(payload))

/** A part of the page could not be loaded. `cause` is what the browser said of it. */
export class MissingPart extends Error {
  constructor(cause: unknown) {
    super('a part of the page could not be loaded', { cause })
  }
}

/** Whether an error says that a part of the page could not be loaded: there is no network, or a newer version. */
export function isMissingPart(error: unknown): boolean {
  return error instanceof MissingPart || failed.has(Object(error))
}

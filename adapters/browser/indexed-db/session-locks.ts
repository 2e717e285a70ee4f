const prefixOf = (database: string): string => `phi-core/${database}/`

/**
 * Takes the Web Lock of a session away from whoever holds it, and holds it until the returned function is called or somebody takes it away in
 * turn: then `onStolen` is called. Does nothing where there are no Web Locks.
 */
export function holdLock(database: string, sessionId: string, onStolen: () => void): () => void {
  let free: () => void = () => undefined
  const isFree = new Promise<void>((resolve) => {
    free = resolve
  })
  navigator.locks
    ?.request(prefixOf(database) + sessionId, { steal: true }, () => isFree)
    .catch((error: unknown) => {
      // Other failures are of places that may not lock, such as sandboxed frames.
      if (error instanceof DOMException && error.name === 'AbortError') onStolen()
    })
  return free
}

/** Ids of the sessions that somebody alive holds. Empty where there are no Web Locks. */
export async function lockedSessions(database: string): Promise<string[]> {
  const prefix = prefixOf(database)
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  return held.flatMap(({ name = '' }) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
}

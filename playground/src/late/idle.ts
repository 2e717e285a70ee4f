/** Calls `act` once the page has nothing else to do; not after what is returned was called. */
export function whenIdle(act: () => void): () => void {
  // WebKit has no such sign.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(act, 2000)
    return () => clearTimeout(timer)
  }
  const waiting = requestIdleCallback(act)
  return () => cancelIdleCallback(waiting)
}

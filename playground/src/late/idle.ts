/** Calls `act` once the page is idle. Returns a function that cancels it. */
export function whenIdle(act: () => void): () => void {
  // WebKit has no `requestIdleCallback`.
  if (!('requestIdleCallback' in globalThis)) {
    const timer = setTimeout(act, 2000)
    return () => clearTimeout(timer)
  }
  const waiting = requestIdleCallback(act)
  return () => cancelIdleCallback(waiting)
}

/** Times above `latest`, each later than the one before, so that lists have an order: the clock of a Worker stands still while it computes. */
export function risingClock(latest = 0): () => number {
  let last = latest
  return () => {
    last = Math.max(Date.now(), last + 1)
    return last
  }
}

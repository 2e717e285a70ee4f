/** The longest delay platforms take (24.8 days), in ms; they would fire a longer one at once. */
const longestMs = 2_147_483_647

/** Calls `act` after `ms` milliseconds, or after 24.8 days where `ms` is longer or infinite; returns how to stop it. */
export function startTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.min(ms, longestMs))
  return () => clearTimeout(timer)
}

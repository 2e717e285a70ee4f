/** The longest delay platforms take (24.8 days), in ms; they would fire a longer one at once. */
const longestMs = 2_147_483_647

/** `ms`, or the longest delay that timers of platforms take where it is longer or infinite. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}

/** Calls `act` after `ms` milliseconds, or after 24.8 days where `ms` is longer or infinite; returns how to stop it. */
export function startTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, timerMs(ms))
  return () => clearTimeout(timer)
}

/** An abort controller that follows another signal until it is released. */
export interface LinkedAbort {
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** Stops following; leaves no listener behind. */
  release(): void
}

/** A controller that aborts when `parent` does. Cheaper and easier to release than `AbortSignal.any`. */
export function linkAbort(parent: AbortSignal): LinkedAbort {
  const controller = new AbortController()
  const follow = () => controller.abort(parent.reason)
  if (parent.aborted) follow()
  else parent.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => parent.removeEventListener('abort', follow),
  }
}

/**
 * `work`, or a rejection with the signal's reason as soon as it aborts. The work goes on detached: its late outcome is dropped.
 * The listener is gone when the returned promise settles.
 */
export function raceAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop))
  })
}

/** Waits for `work`, but once `signal` has aborted at most `graceMs` longer; then rejects. Leaves neither timer nor listener. */
export function settleWithin<T>(work: PromiseLike<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let stopTimer: (() => void) | undefined
    const startGrace = () => {
      stopTimer = startTimer(graceMs, () => reject(new Error(`no answer within ${graceMs} ms of the abort`)))
    }
    if (signal.aborted) startGrace()
    else signal.addEventListener('abort', startGrace, { once: true })
    const settle = () => {
      stopTimer?.()
      signal.removeEventListener('abort', startGrace)
    }
    Promise.resolve(work).then(resolve, reject).finally(settle)
  })
}

/** The longest delay platforms take (24.8 days), in ms; they would fire a longer one at once. */
const longestMs = 2_147_483_647

/** Calls `act` after `ms` milliseconds, or after 24.8 days where `ms` is longer or infinite; returns how to stop it. */
export function startTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, Math.min(ms, longestMs))
  return () => clearTimeout(timer)
}

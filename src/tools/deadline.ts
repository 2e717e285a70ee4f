import { startTimer } from '../base/timer.ts'
import { ToolError } from '../contract/errors.ts'

/** Creates the error and abort reason of a cancelled call. */
function cancelled(): ToolError {
  return new ToolError('cancelled', 'Cancelled')
}

/**
 * Throws `cancelled` if `signal` has aborted. File tools call this between steps, so that an abort or a timeout stops them before the
 * next read or write.
 */
export function checkCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelled()
}

/**
 * Runs `work` with a signal that aborts when `signal` does or after `ms` milliseconds.
 *
 * **Contract**
 * - Rejects with `ToolError` `cancelled`, or with `timeout` and the message `timedOut`, even if `work` never settles.
 * - Removes its timer and listener when it settles.
 */
export async function withDeadline<T>(
  signal: AbortSignal,
  ms: number,
  timedOut: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkCancelled(signal)
  const inner = new AbortController()
  let stop: (reason: ToolError) => void = () => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = (reason) => {
      inner.abort(reason)
      reject(reason)
    }
  })
  const onAbort = () => stop(cancelled())
  signal.addEventListener('abort', onAbort, { once: true })
  const stopTimer = startTimer(ms, () => stop(new ToolError('timeout', timedOut)))
  try {
    return await Promise.race([work(inner.signal), stopped])
  } finally {
    stopTimer()
    signal.removeEventListener('abort', onAbort)
  }
}

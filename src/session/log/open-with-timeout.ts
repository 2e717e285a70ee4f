import { startTimer } from '../../base/timer.ts'
import { SessionError } from '../../contract/errors.ts'

/** Milliseconds without progress after which opening fails. */
const patienceMs = 5000

/**
 * Awaits `open`, and rejects with `SessionError` `blocked` after 5 s without progress, for example if a tab with an older version blocks
 * the database. For custom drivers.
 *
 * **Contract**
 * - `subject` names the resource in the error.
 * - Slow work, such as reading a long log, calls `onProgress` to restart the 5 s.
 * - A result that arrives after the rejection is passed to `release`, whose errors are ignored. `open` can check whether it has timed out
 *   before it claims the resource.
 * - No timer is left running.
 *
 * Source: docs/concepts/sessions.md
 */
export function openWithTimeout<T>(
  subject: string,
  open: (isLate: () => boolean, onProgress: () => void) => Promise<T>,
  release: (late: T) => Promise<unknown>,
): Promise<T> {
  let isLate = false
  return new Promise<T>((resolve, reject) => {
    const wait = () =>
      startTimer(patienceMs, () => {
        isLate = true
        reject(blocked(subject))
      })
    let stopTimer = wait()
    let isOver = false
    const onProgress = () => {
      if (isLate || isOver) return
      stopTimer()
      stopTimer = wait()
    }
    open(() => isLate, onProgress).then(
      (opened) => {
        isOver = true
        stopTimer()
        // Ignore the error, because the caller already got a rejection.
        if (isLate) void release(opened).catch(() => undefined)
        else resolve(opened)
      },
      (error) => {
        isOver = true
        stopTimer()
        reject(error)
      },
    )
  })
}

function blocked(subject: string): SessionError {
  return new SessionError('blocked', `${subject} could not be opened: the store did not respond within ${patienceMs / 1000} s.`, {
    hint: 'Another tab or process may block it. Close those that run an older version, then retry.',
  })
}

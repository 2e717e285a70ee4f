import { startTimer } from '../../base/timer.ts'
import { SessionError } from '../../contract/errors.ts'

/** How long a store may take to open something, in ms. */
const patienceMs = 5000

/**
 * What `open` gives, or a rejection with `SessionError` `blocked` when it has given nothing after 5 s: somebody holds what it needs, such as a tab
 * with an older version of the page. For drivers of your own.
 *
 * **Contract**
 * - `subject` is what was to be opened, in the message.
 * - What opens later is given to `release`; what that fails with is dropped. `open` may ask whether it is too late, before it takes something from others.
 * - No timer is left once it has settled.
 *
 * Source: docs/concepts/sessions.md
 */
export function openInTime<T>(
  subject: string,
  open: (isLate: () => boolean) => Promise<T>,
  release: (late: T) => Promise<unknown>,
): Promise<T> {
  let isLate = false
  return new Promise<T>((resolve, reject) => {
    const stopTimer = startTimer(patienceMs, () => {
      isLate = true
      reject(blocked(subject))
    })
    open(() => isLate).then(
      (opened) => {
        stopTimer()
        // Nobody is left who could be told.
        if (isLate) void release(opened).catch(() => undefined)
        else resolve(opened)
      },
      (error) => {
        stopTimer()
        reject(error)
      },
    )
  })
}

function blocked(subject: string): SessionError {
  return new SessionError('blocked', `${subject} could not be opened within ${patienceMs / 1000} s: the store does not answer.`, {
    hint: 'Another tab or process may hold it: close those that run an older version, then try again.',
  })
}

import { startTimer } from '../../base/timer.ts'
import { SessionError } from '../../contract/errors.ts'

/** How long a store may be silent while it opens something, in ms. */
const patienceMs = 5000

/**
 * What `open` gives, or a rejection with `SessionError` `blocked` when nothing was heard of it for 5 s: somebody holds what it needs, such as a tab
 * with an older version of the page. For drivers of your own.
 *
 * **Contract**
 * - `subject` is what was to be opened, in the message.
 * - Work that takes long although nobody holds it, such as reading a long log, calls `onProgress`: the 5 s begin again.
 * - What opens later is given to `release`; what that fails with is dropped. `open` may ask whether it is too late, before it takes something from others.
 * - No timer is left once it has settled.
 *
 * Source: docs/concepts/sessions.md
 */
export function openInTime<T>(
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
        // Nobody is left who could be told.
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
  return new SessionError('blocked', `${subject} could not be opened: the store has not answered within ${patienceMs / 1000} s.`, {
    hint: 'Another tab or process may hold it: close those that run an older version, then try again.',
  })
}

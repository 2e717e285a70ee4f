import { type ReadonlySignal, signal } from '@preact/signals'
import type { SharedState } from '../../../../src/session.ts'
import { type Mark, type Marks, marksIn } from '../backend/marks.ts'
import type { Attempts } from '../notices/notices.ts'

/** A conversation's ratings, and actions that set them. */
export interface Marking {
  /** Absent if they cannot be stored. */
  readonly marks?: ReadonlySignal<Marks> | undefined
  /** Rates a response, or removes its rating for `undefined`. */
  mark(messageId: string, mark: Mark | undefined): void
}

/** Ratings in a conversation's shared state. Without shared state, ratings cannot be stored. */
export function createMarking(state: SharedState | undefined, attempt: Attempts): Marking {
  if (state === undefined) return { mark: () => undefined }
  const marks = signal(marksIn(state.value))
  state.subscribe(() => {
    marks.value = marksIn(state.value)
  })
  /** Preserves other programs' shared state. */
  async function set(messageId: string, mark: Mark | undefined): Promise<void> {
    await state?.set((now) => {
      const { [messageId]: _before, ...others } = marksIn(now)
      return { ...now, feedback: mark === undefined ? others : { ...others, [messageId]: mark } }
    })
  }
  return { marks, mark: (messageId, mark) => void attempt('mark', 'The feedback was not stored', () => set(messageId, mark)) }
}

import { type ReadonlySignal, signal } from '@preact/signals'
import type { SharedState } from '../../../../src/session.ts'
import { type Mark, type Marks, marksIn } from '../backend/marks.ts'
import type { Attempts } from '../notices/notices.ts'

/** Ratings of a conversation, and how to set them. */
export interface Marking {
  /** Absent if they cannot be stored. */
  readonly marks?: ReadonlySignal<Marks> | undefined
  /** Rates a response; `undefined` removes the rating. */
  mark(messageId: string, mark: Mark | undefined): void
}

/** Marks in the shared state of a conversation; without one, none can be kept. */
export function createMarking(state: SharedState | undefined, attempt: Attempts): Marking {
  if (state === undefined) return { mark: () => undefined }
  const marks = signal(marksIn(state.value))
  state.subscribe(() => {
    marks.value = marksIn(state.value)
  })
  /** Shared state of other programs stays. */
  async function set(messageId: string, mark: Mark | undefined): Promise<void> {
    await state?.set((now) => {
      const { [messageId]: _before, ...others } = marksIn(now)
      return { ...now, feedback: mark === undefined ? others : { ...others, [messageId]: mark } }
    })
  }
  return { marks, mark: (messageId, mark) => void attempt('mark', 'The answer was not marked', () => set(messageId, mark)) }
}

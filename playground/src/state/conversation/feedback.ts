import { type ReadonlySignal, signal } from '@preact/signals'
import type { JsonObject } from '../../../../src/index.ts'
import { type SharedState, sharedState } from '../../../../src/shared-state/index.ts'

/** What a person says of an answer. */
export type Mark = 'good' | 'bad'
/** By the id of the message. */
export type Marks = Readonly<Record<string, Mark>>

/** Marks are shared state of the session: they are in its log and its export, and no model is sent them. */
export const feedbackRules = sharedState({
  schema: { type: 'object', properties: { feedback: { type: 'object', additionalProperties: { enum: ['good', 'bad'] } } } },
  initial: {},
})

/** What a page shows of the marks of a conversation, and how a person gives them. */
export interface Marking {
  /** Absent where none can be kept. */
  readonly marks?: ReadonlySignal<Marks> | undefined
  /** Marks an answer; `undefined` takes its mark away. */
  mark(messageId: string, mark: Mark | undefined): void
}

/** What people say of the answers of one conversation. */
interface Feedback {
  readonly marks: ReadonlySignal<Marks>
  /** As `Marking.mark`; rejects where that cannot be stored. */
  mark(messageId: string, mark: Mark | undefined): Promise<void>
}

export function feedbackOf(state: SharedState): Feedback {
  const marks = signal(marksIn(state.value))
  state.subscribe(() => {
    marks.value = marksIn(state.value)
  })
  return {
    marks,
    async mark(messageId, mark) {
      await state.set((now) => {
        const { [messageId]: _before, ...others } = marksIn(now)
        // What else is shared, by another program, stays.
        return { ...now, feedback: mark === undefined ? others : { ...others, [messageId]: mark } }
      })
    },
  }
}

/** The marks in the shared state of a session, which may be of another program. */
export function marksIn(state: JsonObject | undefined): Marks {
  const found = Object.entries(Object(state?.feedback)).filter(
    (entry): entry is [string, Mark] => entry[1] === 'good' || entry[1] === 'bad',
  )
  return Object.fromEntries(found)
}

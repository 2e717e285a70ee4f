import type { JsonObject } from '../../../../src/index.ts'
import { sharedState } from '../../../../src/session.ts'

/** A rating of a response. */
export type Mark = 'good' | 'bad'
/** By message id. */
export type Marks = Readonly<Record<string, Mark>>

/** Ratings are in the session's shared state. They are part of its log and its export, and are never sent to a model. */
export const feedbackRules = sharedState({
  schema: { type: 'object', properties: { feedback: { type: 'object', additionalProperties: { enum: ['good', 'bad'] } } } },
  initial: {},
})

/** Returns the marks in a session's shared state, which another program may have written. */
export function marksIn(state: JsonObject | undefined): Marks {
  const found = Object.entries(Object(state?.feedback)).filter(
    (entry): entry is [string, Mark] => entry[1] === 'good' || entry[1] === 'bad',
  )
  return Object.fromEntries(found)
}

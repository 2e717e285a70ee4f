import type { JsonObject } from '../../../../src/index.ts'
import { sharedState } from '../../../../src/session.ts'

/** A rating of a response. */
export type Mark = 'good' | 'bad'
/** By the id of the message. */
export type Marks = Readonly<Record<string, Mark>>

/** Ratings are shared state of the session: in its log and its export, and never sent to a model. */
export const feedbackRules = sharedState({
  schema: { type: 'object', properties: { feedback: { type: 'object', additionalProperties: { enum: ['good', 'bad'] } } } },
  initial: {},
})

/** The marks in the shared state of a session, which may be of another program. */
export function marksIn(state: JsonObject | undefined): Marks {
  const found = Object.entries(Object(state?.feedback)).filter(
    (entry): entry is [string, Mark] => entry[1] === 'good' || entry[1] === 'bad',
  )
  return Object.fromEntries(found)
}

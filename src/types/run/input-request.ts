import type { JsonObject } from '../../contract/json.ts'
import type { EventBase } from '../../contract/run/event.ts'
import type { PendingInput } from '../../contract/run/run-facts.ts'

/**
 * What a person answered: what was filled in, that they will not say, or nothing. `cancel` is also what a call gets that asks where nobody can be
 * asked, or was not answered in time.
 */
export type InputAnswer = { action: 'accept'; content?: JsonObject } | { action: 'decline' } | { action: 'cancel' }

/** The request that an answer is to: an `inputRequested` event, or an entry of `pendingInputs()`. */
export type InputRef = Pick<PendingInput, 'inputId'>

/** A request as it is asked: what is shown, and which loop asks. */
export type InputRequest = PendingInput & Pick<EventBase, 'loopId'>

/** Where the calls of a loop ask people. A tool that starts loops gets that of its run in `ctx.guards`. */
export interface InputDesk {
  /** Lets `request` wait; `answer` is called with the answer, at most once. Returns how to withdraw it: then `answer` is not called. */
  wait(request: InputRequest, answer: (answer: InputAnswer) => void): () => void
}

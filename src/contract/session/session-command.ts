import { aText, type Infer, object, oneOf, optional, tagged, wholeFrom } from '../shape/shape.ts'

/** Request data as received; it is parsed and validated by the owner of the session. */
const requestData = { query: optional(aText), contentType: optional(aText), body: optional(aText) }
/** Request data about the item with this id, which is still URL-encoded and may contain a slash. */
const about = { ...requestData, id: aText }

/** All commands of clients to a session. */
export const sessionCommand = tagged('type', {
  /** Read-only. `after` is the last event that the client has. */
  read: { method: oneOf('GET', 'HEAD'), path: aText, query: optional(aText), after: optional(aText) },
  prompt: requestData,
  send: requestData,
  continue: requestData,
  compact: requestData,
  regenerate: requestData,
  edit: requestData,
  branch: requestData,
  steer: requestData,
  followUp: requestData,
  withdraw: about,
  decide: about,
  answerInput: about,
  claimCall: about,
  answerCall: about,
  stop: requestData,
  rename: requestData,
  /** Changes the shared state. */
  changeState: requestData,
  import: requestData,
  delete: requestData,
  schedule: requestData,
  unschedule: about,
  /** Chat request of another protocol: input, decisions and results at once. */
  chat: requestData,
  agUi: requestData,
  chatCompletion: requestData,
  response: requestData,
})

/** Command of a client to a session, as plain JSON. */
export type SessionCommand = Infer<typeof sessionCommand>

/**
 * Command that one process forwards to the owner of a session.
 *
 * **Contract**
 * - `identity` is the authenticated user; the owner does not authenticate again. Absent on servers with a single user.
 * - `deadline` is in epoch milliseconds on a clock that both processes share. After it the caller no longer waits and nothing starts.
 * - `beginBy`: nothing starts after it, because the command was not accepted in time. Default: `deadline`, for older versions.
 * - The same `idempotencyKey` of the same identity and session takes effect once, on any process and for any number of retries.
 */
export interface ForwardedCommand {
  sessionId: string
  identity?: string
  command: SessionCommand
  idempotencyKey?: string
  beginBy?: number
  deadline: number
}

export const forwardedCommand = object<ForwardedCommand>({
  sessionId: aText,
  identity: optional(aText),
  command: sessionCommand,
  idempotencyKey: optional(aText),
  beginBy: optional(wholeFrom(0)),
  deadline: wholeFrom(0),
})

import { aText, type Infer, object, oneOf, optional, tagged, wholeFrom } from '../shape/shape.ts'

/** Request data as received. The session's owner parses and validates the data. */
const requestData = { query: optional(aText), contentType: optional(aText), body: optional(aText) }
/** Request data for one item. The `id` is still URL-encoded and may encode a slash. */
const about = { ...requestData, id: aText }

/** Payloads of the commands that clients send to a session. */
export const sessionCommand = tagged('type', {
  /** Read-only. `after` is the id of the last event that the client received. */
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
  /** Chat request of another protocol, which combines input, decisions and results. */
  chat: requestData,
  agUi: requestData,
  chatCompletion: requestData,
  response: requestData,
})

/** Command from a client to a session, as plain JSON. */
export type SessionCommand = Infer<typeof sessionCommand>

/**
 * Command that one process forwards to a session's owner.
 *
 * **Contract**
 * - `identity` is the authenticated user. The owner does not authenticate again. Absent on servers with a single user.
 * - `deadline` is in epoch milliseconds on a clock that both processes share. After the deadline, the caller stops waiting and the owner
 *   does not start the command.
 * - `beginBy` is the latest time at which the owner may start the command. Default: `deadline`, for older versions.
 * - `reason` is `queued` for a scheduled prompt. Absent for a client's command.
 * - An `idempotencyKey` takes effect once per identity and session, across processes and retries.
 */
export interface ForwardedCommand {
  sessionId: string
  identity?: string
  command: SessionCommand
  idempotencyKey?: string
  reason?: 'queued'
  beginBy?: number
  deadline: number
}

export const forwardedCommand = object<ForwardedCommand>({
  sessionId: aText,
  identity: optional(aText),
  command: sessionCommand,
  idempotencyKey: optional(aText),
  reason: optional(oneOf('queued')),
  beginBy: optional(wholeFrom(0)),
  deadline: wholeFrom(0),
})

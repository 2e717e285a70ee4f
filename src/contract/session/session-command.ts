import { aText, type Infer, object, oneOf, optional, tagged, wholeFrom } from '../shape/shape.ts'

/** What a client has sent along, as it came: it is read where the session is, and refused there. */
const told = { query: optional(aText), contentType: optional(aText), body: optional(aText) }
/** The same, about what has this id. It stands as it did in the address, so it may have a slash in it. */
const about = { ...told, id: aText }

/** What clients ask of a session: everything that there is to ask. */
export const sessionCommand = tagged('type', {
  /** Changes nothing. `after` is the last event that the client has. */
  read: { method: oneOf('GET', 'HEAD'), path: aText, query: optional(aText), after: optional(aText) },
  prompt: told,
  send: told,
  continue: told,
  compact: told,
  regenerate: told,
  edit: told,
  branch: told,
  steer: told,
  followUp: told,
  withdraw: about,
  decide: about,
  answerInput: about,
  claimCall: about,
  answerCall: about,
  stop: told,
  rename: told,
  /** What the session shares with its pages. */
  changeState: told,
  import: told,
  delete: told,
  schedule: told,
  unschedule: about,
  /** What clients of other protocols send: what is said, decided and answered at once. */
  chat: told,
  agUi: told,
  chatCompletion: told,
  response: told,
})

/** What a client asks of a session, as plain JSON. */
export type SessionCommand = Infer<typeof sessionCommand>

/**
 * What one process passes on to the one that has the session: who asks, for what, under which key, and until when.
 *
 * **Contract**
 * - `identity` is what the process that was asked has found out: nobody is asked again who it is. Absent for the only user of a server.
 * - `deadline` is in epoch ms, by a clock that both processes share. After it nobody waits any more, and nothing is begun.
 * - After `beginBy` nothing is begun either: nobody has taken it in time. Absent in what older versions pass on: the `deadline`.
 * - The same `idempotencyKey` of the same identity, in the same session, acts once, whichever process it reaches and however often.
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

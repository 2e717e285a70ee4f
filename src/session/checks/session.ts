import { jsonFault, maxJsonDepth } from '../../base/json/json-fault.ts'
import { SessionError } from '../../contract/errors.ts'
import type { Session } from '../../contract/session/session.ts'
import { type Check, type Fields, invalidMessages, list, object, oneOf, readJson, tagged, typed } from './check.ts'
import { begunCall } from './entry-checks.ts'
import { messageShape } from './message-json.ts'
import { contextState, overlay, prune, revert } from './snapshot.ts'

const string = typed('string')
const number = typed('number')
const json = typed('object')
const flag = typed('boolean')
const strings = list(string)
const moment: Fields = { at: number }

/** A message of a history that is stored: it has its id. */
const message: Check = (value, path) => {
  messageShape(value, path)
  object({ id: string })(value, path)
}
const history = list(message)

const usage = object({ input: number, output: number, reasoning: number, cacheRead: number, cacheWrite: number, totalTokens: number })

const turn = object({
  turnId: object({ loopId: string, turnIndex: number }),
  triggeredBy: oneOf('user|subAgent|continuation|branch'),
  usage,
  inputMessages: history,
  'outputMessage?': message,
  toolResults: history,
  startedAt: number,
  endedAt: number,
  'requestPayload?': json,
})

const loop = object({
  loopId: string,
  sessionId: string,
  agentId: string,
  'parentLoopId?': string,
  continuationKind: tagged('kind', { initial: {}, default: {}, rerun: { tag: string }, branch: { tag: string }, compaction: {} }),
  startedAt: number,
  'endedAt?': number,
  status: oneOf('completed|error|aborted|limit|paused|rejected|running|pending|interrupted'),
  'rejection?': string,
  'error?': object({ code: string, message: string }),
  'config?': json,
  'base?': object({ messages: history, state: contextState }),
  messages: history,
  turns: list(turn),
  usage,
  events: list(object({ sequence: number, event: json })),
  childrenLoopIds: strings,
  childLoopRefs: list(object({ toolCallId: string, toolName: string, childLoopId: string, childSessionId: string })),
  'parallelGroup?': object({
    allLoopIds: strings,
    selectedLoopId: string,
    selectedConfigIndex: number,
    evaluationUsage: usage,
    'reason?': string,
    isSelected: flag,
  }),
  'overlay?': overlay,
  'prunes?': list(prune),
  'reverts?': list(revert),
  'begunCalls?': list(begunCall),
})

const shape = object({
  sessionId: string,
  agentId: string,
  createdAt: number,
  lastActiveAt: number,
  formation: tagged('type', {
    firstLoop: moment,
    explicit: moment,
    inactivityTimeout: { ...moment, thresholdSecs: number, 'previousSessionId?': string },
  }),
  'parentSpawnRef?': object({ parentSessionId: string, parentLoopId: string, toolCallId: string, toolName: string }),
  scope: oneOf('ephemeral|persistent'),
  'title?': string,
  loops: list(loop),
})

/**
 * Reads what `JSON.stringify(session)` wrote, for `store.save`. Throws `SessionError` `invalidSession` that names the path and what was wrong there,
 * such as `session.loops[2].status: expected completed|…, got "done"`, and quotes nothing else of the text. Unknown keys are kept.
 *
 * Source: docs/concepts/sessions.md
 */
export function parseSession(text: string): Session {
  return named(() => checkSession(readJson(text, 'session')))
}

/**
 * As `parseSession`, for a value that has been read already, or was made: what JSON cannot hold is refused too. Events are not looked into: only that they are objects. Gives
 * the same object. For `save` of a store of your own.
 */
export function checkSession(value: unknown): Session {
  return named(() => {
    shape(value, 'session')
    const session = value as Session // what was checked just now
    assertOwnIds(session)
    const stored = { ...session, loops: session.loops.map(({ events: _, ...rest }) => rest) }
    const fault = jsonFault(stored, 'session', maxJsonDepth + 20)
    if (fault !== undefined) throw new SessionError('invalidSession', fault)
    return session
  })
}

/** A log knows loops by their ids. */
function assertOwnIds({ loops }: Session): void {
  const known = new Set<string>()
  for (const [at, { loopId }] of loops.entries()) {
    if (known.has(loopId)) throw invalidMessages(`session.loops[${at}].loopId`, 'an id that no loop before has', loopId, true)
    known.add(loopId)
  }
}

/** What is wrong with a session has a code of its own. */
function named<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw SessionError.isInstance(error) ? new SessionError('invalidSession', error.message) : error
  }
}

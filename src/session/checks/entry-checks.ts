import { type Check, type Fields, list, object, oneOf, tagged, typed } from './check.ts'
import { contextState, overlay, prune, revert } from './snapshot.ts'

const string = typed('string')
const number = typed('number')
const json = typed('object')

const blocks = new Map(
  Object.entries({
    text: { text: string },
    thinking: { thinking: string },
    image: { data: string, mimeType: string },
    toolCall: { id: string, name: string, arguments: json },
  }).map(([type, fields]) => [type, object(fields)]),
)

/** A block of a type that is not known here may be anything. */
const block: Check = (value, path) => {
  object({ type: string })(value, path)
  const { type } = value as { type: string } // just shown
  blocks.get(type)?.(value, path)
}

/** As much as readers of a history rely on: a message that was stored must not vanish because of a detail that only a model cares about. */
const spoken: Fields = { id: string, content: list(block) }
const answer: Fields = { ...spoken, usage: json }
const result: Fields = { ...spoken, toolCallId: string }
const message = tagged('role', { user: spoken, assistant: answer, toolResult: result, extension: { id: string } })
const assistant = tagged('role', { assistant: answer })
const toolResult = tagged('role', { toolResult: result })

/** A `BegunCall`. */
export const begunCall = object({ toolCallId: string, idempotent: typed('boolean') })
const tag: Fields = { tag: string }
const moment: Fields = { at: number }

/** The bodies of the entries that this version knows. Keys beyond these are kept. */
const entries: Readonly<Record<string, Fields>> = {
  input: { message },
  assistant: { message: assistant },
  toolIntent: { toolCallId: string, toolName: string, arguments: json, idempotent: typed('boolean') },
  toolResult: { message: toolResult },
  compaction: { overlay },
  prune: { record: prune },
  revert: { record: revert },
  loopStart: {
    'parentLoopId?': string,
    continuationKind: tagged('kind', { initial: {}, default: {}, rerun: tag, branch: tag, compaction: {} }),
    config: object({ model: string, provider: string }),
  },
  turnStart: { triggeredBy: oneOf('user|subAgent|continuation|branch') },
  turnRequest: { request: json },
  loopEnd: {
    status: oneOf('completed|error|aborted|limit|paused|rejected'),
    usage: json,
    'error?': object({ code: string, message: string }),
    'rejection?': string,
  },
  sessionStart: {
    agentId: string,
    formation: tagged('type', {
      firstLoop: moment,
      explicit: moment,
      inactivityTimeout: { at: number, thresholdSecs: number, 'previousSessionId?': string },
    }),
    scope: oneOf('ephemeral|persistent'),
    'title?': string,
    'lastActiveAt?': number,
    'spawnRef?': object({ parentSessionId: string, parentLoopId: string, toolCallId: string, toolName: string }),
  },
  title: { title: string },
  events: { events: list(object({ sequence: number, event: object({ type: string }) })) },
  history: { messages: list(message), state: contextState },
  childLoop: { ref: object({ toolCallId: string, toolName: string, childLoopId: string, childSessionId: string }) },
  parallelGroup: {
    group: object({
      ...{ allLoopIds: list(string), selectedLoopId: string, selectedConfigIndex: number, evaluationUsage: json },
      'reason?': string,
    }),
  },
  loop: {
    loop: object({
      ...{ loopId: string, sessionId: string, agentId: string, startedAt: number, status: string, usage: json },
      ...{ messages: list(message), turns: list(json), childrenLoopIds: list(string), childLoopRefs: list(json) },
      'base?': object({ messages: list(message), state: contextState }),
      'begunCalls?': list(begunCall),
    }),
  },
  recovered: { messages: list(message) },
}

const checks = new Map(Object.entries(entries).map(([name, fields]) => [name, object(fields)]))

/** Whether `body` is what this version writes for an entry of type `name`. `false` for a type it does not know. Never throws. */
export function isKnownEntry(name: string, body: unknown): body is Record<string, unknown> {
  const check = checks.get(name)
  if (check === undefined) return false
  try {
    check(body, name)
    return true
  } catch {
    return false
  }
}

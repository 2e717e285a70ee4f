import { jsonFault } from '../../base/json/json-fault.ts'
import { SessionError } from '../../contract/errors.ts'
import { newId } from '../../contract/message/ids.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { type Check, type Fields, list, object, oneOf, present, readJson, tagged, typed } from './check.ts'

const string = typed('string')
const number = typed('number')
const anyObject = typed('object')
const jsonValue: Check = (value, path) => {
  present(value, path)
  const fault = jsonFault(value, path)
  if (fault !== undefined) throw new SessionError('invalidMessages', fault)
}
/** An object that can be written again: not nested too deep. */
const json: Check = (value, path) => {
  anyObject(value, path)
  jsonValue(value, path)
}
const state = object({ api: string, model: string, payload: json })

const content = list(
  tagged('type', {
    text: { text: string, 'providerState?': state },
    image: { data: string, mimeType: string },
    thinking: { thinking: string, 'signature?': string, 'providerState?': state },
    toolCall: { id: string, name: string, arguments: json, 'invalidArguments?': string, 'providerState?': state },
  }),
)

const envelope: Fields = {
  'id?': string,
  content,
  timestamp: number,
  'turnId?': object({ loopId: string, turnIndex: number }),
  'provenanceHint?': object({ kind: string }),
  'nodeId?': number,
  'parentId?': number,
  'tags?': list(object({ kind: string, text: string, createdAtTurn: number, abandonedNodeIds: list(number) })),
}

/** A message, with or without its id. */
export const messageShape: Check = tagged('role', {
  user: envelope,
  assistant: {
    ...envelope,
    stopReason: oneOf('stop|length|toolUse|error|aborted|maxTurns|userStop|handoff|guardRail|contextCompacted|paused'),
    model: string,
    provider: string,
    'responseId?': string,
    'responseModel?': string,
    usage: object({ input: number, output: number, reasoning: number, cacheRead: number, cacheWrite: number, totalTokens: number }),
    'errorMessage?': string,
  },
  toolResult: { ...envelope, toolCallId: string, toolName: string, isError: typed('boolean'), 'childLoopId?': string },
  extension: { 'id?': string, kind: string, data: jsonValue },
})

const messages = list(messageShape)

/** A history as JSON text in the native format (camelCase). `parseMessages` reads it back. */
export function serializeMessages(history: readonly AgentMessage[]): string {
  return JSON.stringify(history)
}

/**
 * Reads a history in the native format.
 *
 * **Contract**
 * - Throws `SessionError` `invalidMessages` that names the path and what was wrong there, such as
 *   `messages[3].content[0].type: expected text|image|thinking|toolCall, got "foo"`.
 * - A message without an id gets a new one. Unknown keys are kept, so that an older version can carry what a newer one wrote.
 * - The structure is checked, not the meaning: that every call has its result is the business of the request encoder.
 * - For what the Rust implementation wrote, use `fromSpecJson` of `phi-core/rust`.
 *
 * Source: docs/concepts/messages.md
 */
export function parseMessages(text: string): AgentMessage[] {
  return checkHistory(readJson(text), 'messages')
}

/** As {@link parseMessages}, for a value that has been read already; `path` says where it was found. */
export function checkHistory(value: unknown, path: string): AgentMessage[] {
  messages(value, path)
  const history = value as AgentMessage[] // the check above is the proof
  return history.map((message) => (message.id === undefined ? { ...(message as AgentMessage), id: newId() } : message))
}

import { contextState } from '../context/context-change.ts'
import { SessionError } from '../errors.ts'
import { type AgentMessage, messageInput, withId } from '../message/message.ts'
import { promptSettings, recordedSettings, thinkingLevel } from '../model/request-settings.ts'
import { askedClientCall } from '../run/run-facts.ts'
import { parseStored, readStored } from '../shape/read.ts'
import { aNumber, anObject, aText, type FieldsOf, fieldsOf, kind, listOf, optional, recordOf } from '../shape/shape.ts'
import { savedState } from './shared-state.ts'

const nonMessageFields = {
  /** Version of this format. */
  version: kind<1>('1', (value) => value === 1),
  /** Epoch milliseconds. */
  createdAt: aNumber,
  agentId: aText,
  sessionId: aText,
  lastLoopId: optional(aText),
  /** Number of loops per configuration segment, so that ids are not reused. */
  loopCounts: recordOf(aNumber),
  state: contextState,
  /** Request settings of the unfinished prompt, which `continueLoop` uses. */
  asked: optional(promptSettings),
  /** Request settings of prompts, by loop id, which `regenerate` and `editAndResend` use. */
  askedOf: optional(recordOf(promptSettings)),
  /** Pending client tool calls, with deadline and claim. */
  clientCalls: optional(listOf(askedClientCall)),
  /** Shared state of the session, if any. */
  sharedState: optional(savedState),
  /** Absent if unknown; the restored agent then keeps its own settings. */
  settings: optional(
    fieldsOf({
      systemPrompt: aText,
      thinking: thinkingLevel,
      maxTokens: optional(aNumber),
      temperature: optional(aNumber),
      configId: optional(aText),
      /** Other settings of each request. */
      request: optional(recordedSettings),
    }),
  ),
}

/**
 * State to resume a conversation elsewhere, as plain JSON. It contains no model and no key: the new environment provides them.
 *
 * Source: docs/concepts/sessions.md
 */
export interface AgentSnapshot extends FieldsOf<typeof nonMessageFields> {
  messages: AgentMessage[]
}

/** Messages without an id get one. */
const writtenSnapshot = fieldsOf({ ...nonMessageFields, messages: listOf(messageInput) })

/**
 * Parses the output of `JSON.stringify(agent.checkpoint())`, for `agent.restore`. Keeps unknown keys. Throws `SessionError`
 * `invalidSnapshot` for another version, and `invalidMessages` with the path of an invalid part.
 *
 * Source: docs/concepts/sessions.md
 */
export function parseSnapshot(text: string): AgentSnapshot {
  return checkSnapshot(parseStored(text, 'messages'))
}

/** {@link parseSnapshot} for a parsed value. */
export function checkSnapshot(value: unknown): AgentSnapshot {
  const given = readStored(anObject, value, 'snapshot')
  if (!('version' in given) || given.version !== 1) {
    throw new SessionError('invalidSnapshot', 'This is no snapshot of version 1. Pass the JSON of what agent.checkpoint() returned.')
  }
  const snapshot = readStored(writtenSnapshot, given, 'snapshot')
  return { ...snapshot, messages: snapshot.messages.map(withId) }
}

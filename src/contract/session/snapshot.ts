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
  /** The session's shared state, if any. */
  sharedState: optional(savedState),
  /** If absent, the restored agent keeps its current settings. */
  settings: optional(
    fieldsOf({
      systemPrompt: aText,
      thinking: thinkingLevel,
      maxTokens: optional(aNumber),
      temperature: optional(aNumber),
      configId: optional(aText),
      /** Additional settings sent with each request. */
      request: optional(recordedSettings),
    }),
  ),
}

/**
 * State that resumes a conversation in another process, as plain JSON. Contains no model and no API key. The new process provides both.
 *
 * Source: docs/concepts/sessions.md
 */
export interface AgentSnapshot extends FieldsOf<typeof nonMessageFields> {
  messages: AgentMessage[]
}

/** Assigns ids to messages without one. */
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
    throw new SessionError('invalidSnapshot', 'Invalid snapshot: expected version 1. Pass the JSON that agent.checkpoint() returned.')
  }
  const snapshot = readStored(writtenSnapshot, given, 'snapshot')
  return { ...snapshot, messages: snapshot.messages.map(withId) }
}

import { contextState } from '../context/context-change.ts'
import { SessionError } from '../errors.ts'
import { type AgentMessage, messageInput, withId } from '../message/message.ts'
import { promptSettings, recordedSettings, thinkingLevel } from '../model/request-settings.ts'
import { askedClientCall } from '../run/run-facts.ts'
import { parseStored, readStored } from '../shape/read.ts'
import { aNumber, anObject, aText, type FieldsOf, fieldsOf, kind, listOf, optional, recordOf } from '../shape/shape.ts'
import { savedState } from './shared-state.ts'

const fieldsBesideMessages = {
  /** Version of this shape. */
  version: kind<1>('1', (value) => value === 1),
  /** Epoch ms. */
  createdAt: aNumber,
  agentId: aText,
  sessionId: aText,
  lastLoopId: optional(aText),
  /** Loops run so far, per configuration segment: ids are not used twice. */
  loopCounts: recordOf(aNumber),
  state: contextState,
  /** What the prompt that is not answered yet said of its requests: `continueLoop` goes on with it. */
  asked: optional(promptSettings),
  /** What prompts said of their requests, by the ids of their loops: `regenerate` and `editAndResend` go on with it. */
  askedOf: optional(recordOf(promptSettings)),
  /** Calls that pages were asked to run and that have no result: until when, and which page does. */
  clientCalls: optional(listOf(askedClientCall)),
  /** What the session shares with its pages, where it does. */
  sharedState: optional(savedState),
  /** Absent where they are not known: the agent that goes on keeps its own settings then. */
  settings: optional(
    fieldsOf({
      systemPrompt: aText,
      thinking: thinkingLevel,
      maxTokens: optional(aNumber),
      temperature: optional(aNumber),
      configId: optional(aText),
      /** What else is asked of each request. */
      request: optional(recordedSettings),
    }),
  ),
}

/**
 * Everything needed to go on with a conversation elsewhere, as plain JSON. No model and no key: those belong to the environment that goes on.
 *
 * Source: docs/concepts/sessions.md
 */
export interface AgentSnapshot extends FieldsOf<typeof fieldsBesideMessages> {
  messages: AgentMessage[]
}

/** Its messages get ids where they have none. */
const writtenSnapshot = fieldsOf({ ...fieldsBesideMessages, messages: listOf(messageInput) })

/**
 * Reads what `JSON.stringify(agent.checkpoint())` wrote, for `agent.restore`. Throws `SessionError`: `invalidSnapshot` for another version,
 * `invalidMessages` that names the path for what does not fit. Unknown keys are kept.
 *
 * Source: docs/concepts/sessions.md
 */
export function parseSnapshot(text: string): AgentSnapshot {
  return checkSnapshot(parseStored(text, 'messages'))
}

/** As {@link parseSnapshot}, for a value that has been read already. */
export function checkSnapshot(value: unknown): AgentSnapshot {
  const given = readStored(anObject, value, 'snapshot')
  if (!('version' in given) || given.version !== 1) {
    throw new SessionError('invalidSnapshot', 'This is no snapshot of version 1. Pass the JSON of what agent.checkpoint() returned.')
  }
  const snapshot = readStored(writtenSnapshot, given, 'snapshot')
  return { ...snapshot, messages: snapshot.messages.map(withId) }
}

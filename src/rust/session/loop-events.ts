import { SessionError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { LoopConfigSnapshot } from '../../contract/run/run-facts.ts'
import type { LoopEvent, LoopRecord } from '../../contract/session/session.ts'
import { invalidMessages } from '../../contract/shape/read.ts'
import { aJsonObject, aNumber, fieldsOf, type Infer, listOf } from '../../contract/shape/shape.ts'
import { eventFromSpec, eventToSpec } from '../event.ts'
import { readTime } from '../time.ts'
import type { MessageIds } from './message-ids.ts'

/** Events without validation. */
export const rawEvents = listOf(fieldsOf({ sequence: aNumber, event: aJsonObject }))

const noConfig: LoopConfigSnapshot = {
  model: '',
  provider: '',
  name: '',
  api: 'openAiCompletions',
  baseUrl: '',
  reasoning: false,
  contextWindow: 0,
  maxTokens: 0,
  thinkingLevel: 'off',
}

/**
 * Returns a loop's events. Keeps the crate's JSON of each for writing, because our events lack some of its data, such as the message with
 * every delta. The run id is that of the loop, `seq` follows `sequence`. An event without a time gets that of the previous one.
 */
export function eventsFromSpec(
  events: Infer<typeof rawEvents>,
  loop: Pick<LoopRecord, 'loopId' | 'sessionId' | 'startedAt' | 'config'>,
  ids: MessageIds,
  path: string,
): LoopEvent[] {
  let at = loop.startedAt
  return events.map((raw, index) => {
    const { sequence } = raw
    const place = `${path}[${index}].event`
    const specEvent = withExactTime(raw.event, place)
    const defaults = {
      runId: loop.loopId,
      seq: sequence + 1,
      at,
      sessionId: loop.sessionId,
      configSnapshot: { ...noConfig, ...loop.config },
    }
    const event = placed(place, () => eventFromSpec(withIds(specEvent, ids), defaults))
    // The crate refuses a file with an unknown event, so it did not write this file.
    if (event === undefined) throw invalidMessages(`${place}.type`, 'an event of the specification', specEvent.type, true)
    at = event.at
    return { ...raw, specEvent, event }
  })
}

/** Returns the events that the crate knows. It refuses a whole file for any other. */
export function eventsToSpec(events: readonly LoopEvent[], message: (id: string) => AgentMessage | undefined): JsonObject[] {
  return events.flatMap((kept) => {
    const { specEvent, ...rest }: LoopEvent & { specEvent?: JsonObject } = kept
    const event = specEvent ?? eventToSpec(kept.event, message)
    return event === undefined ? [] : [{ ...rest, event }]
  })
}

function withExactTime(event: JsonObject, path: string): JsonObject {
  const { timestamp } = event
  if (timestamp === undefined) return event
  return { ...event, timestamp: readTime(timestamp, `${path}.timestamp`).text }
}

/** Returns the event with the ids that its messages have in the history. */
function withIds(event: JsonObject, ids: MessageIds): object {
  const { message, messages, tool_results } = event
  return {
    ...event,
    ...(message !== undefined && { message: ids.anywhere(message) }),
    ...(messages !== undefined && { messages: ids.anywhere(messages) }),
    ...(tool_results !== undefined && { tool_results: ids.anywhere(tool_results) }),
  }
}

/** Calls `read`, and adds `path` to its errors. */
function placed<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    throw new SessionError(error.code, error.message.replace(/^event/, path))
  }
}

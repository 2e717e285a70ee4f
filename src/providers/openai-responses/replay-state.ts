import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'

/**
 * What a block keeps for being sent back to the same model.
 *
 * The service refuses a reasoning item without the item it led to, and that item under its id without the reasoning. So the item behind a
 * reasoning item remembers it in `after`, and an answer goes back with its reasoning and ids only if all of these pairs still stand.
 */
export interface ReplayPayload {
  /** An item, whole, as it came: of reasoning on its first block, or of a tool that the service ran. */
  item?: JsonObject
  /** The item that says what came of `item`. */
  result?: JsonObject
  /** The item that made this picture; the picture stands in it when it goes back. */
  of?: string
  /** What a text rests on, as the service says it. */
  annotations?: JsonValue[]
  /** Where the service found the tool of a call, and what called it. */
  namespace?: JsonValue
  caller?: JsonValue
  /** Id of the message or call. */
  id?: string
  /** What kind of message this is, in words of the service (`commentary`, `final_answer`). */
  phase?: string
  /** Id of the reasoning item right before this item; empty where the service gives it none. */
  after?: string
}

/** The payload of a block, field by field checked: a history may come from anywhere. */
export function replayPayload(state: ProviderState | undefined): ReplayPayload {
  const { item, result, of, annotations, namespace, caller, id, phase, after } = state?.payload ?? {}
  const payload: ReplayPayload = {}
  if (isObject(item)) payload.item = item
  if (isObject(result)) payload.result = result
  if (typeof of === 'string') payload.of = of
  if (Array.isArray(annotations)) payload.annotations = annotations
  if (namespace !== undefined) payload.namespace = namespace
  if (caller !== undefined) payload.caller = caller
  if (typeof id === 'string') payload.id = id
  if (typeof phase === 'string') payload.phase = phase
  if (typeof after === 'string') payload.after = after
  return payload
}

/** Whether a reasoning item says enough to be sent back: nothing is stored at the service, so its id alone is not. */
export function isReplayable(item: JsonObject | undefined): boolean {
  if (item?.type !== 'reasoning') return false
  const { encrypted_content: encrypted, content } = item
  return (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
}

/** The id of a reasoning item; empty where it has none. */
export function reasoningId(item: JsonObject): string {
  return typeof item.id === 'string' ? item.id : ''
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

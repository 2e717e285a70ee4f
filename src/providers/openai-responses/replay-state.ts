import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'

/**
 * What a block keeps for being sent back to the same model.
 *
 * The service refuses a reasoning item without the item it led to, and that item under its id without the reasoning. So the item behind a
 * reasoning item remembers it in `after`, and an answer goes back with its reasoning and ids only if all of these pairs still stand.
 */
export interface ReplayPayload {
  /** A reasoning item, whole, as it came. On the first block of the item. */
  item?: JsonObject
  /** Items of a tool of the service, or of a kind that is not known, as they came. Of a picture, without its bytes. */
  items?: JsonObject[]
  /** A part of a message that is not known, as it came. */
  part?: JsonObject
  /** The block shows a person what goes back with another: its id. */
  shownBy?: string
  /** Id of the message or call. */
  id?: string
  /** What kind of message this is, in words of the service (`commentary`, `final_answer`). */
  phase?: string
  /** What the text rests on, in the form of the service. */
  annotations?: JsonObject[]
  /** Where the service found the tool of a call. */
  namespace?: string
  /** What called the tool of a call, if not the model itself. */
  caller?: JsonObject
  /** Id of the reasoning item right before this item; empty where the service gives it none. */
  after?: string
}

/** The payload of a block, field by field checked: a history may come from anywhere. */
export function replayPayload(state: ProviderState | undefined): ReplayPayload {
  const fields = state?.payload
  if (fields === undefined) return {}
  const payload: ReplayPayload = {}
  const { item, items, part, annotations, caller } = fields
  if (isJsonObject(item)) payload.item = item
  if (Array.isArray(items)) payload.items = items.filter(isJsonObject)
  if (isJsonObject(part)) payload.part = part
  if (Array.isArray(annotations)) payload.annotations = annotations.filter(isJsonObject)
  if (isJsonObject(caller)) payload.caller = caller
  for (const name of ['shownBy', 'id', 'phase', 'namespace', 'after'] as const) {
    const text = fields[name]
    if (typeof text === 'string') payload[name] = text
  }
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

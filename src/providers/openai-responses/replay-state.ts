import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'

/**
 * State of a block for sending it back to the same model.
 *
 * The API refuses a reasoning item without the item it led to, and that item's id without the reasoning. So that item stores the
 * reasoning id in `after`. A response is sent with reasoning and ids only if all of these pairs are intact.
 */
export interface ReplayPayload {
  /** A complete reasoning item as received. On the first block of the item. */
  item?: JsonObject
  /** Items of a provider-executed tool, or of an unknown kind, as received. Without the bytes of an image. */
  items?: JsonObject[]
  /** An unknown message part as received. */
  part?: JsonObject
  /** Id of the block that is sent back with this one's content. */
  shownBy?: string
  /** Id of the message or call. */
  id?: string
  /** Kind of the message in the API's terms (`commentary`, `final_answer`). */
  phase?: string
  /** Citations as received. */
  annotations?: JsonObject[]
  /** Namespace in which the provider found the tool of a call. */
  namespace?: string
  /** Caller of the tool, if not the model itself. */
  caller?: JsonObject
  /** Id of the reasoning item right before this item; empty if it has no id. */
  after?: string
}

/** Returns the validated payload of a block, because a history may be untrusted. */
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

/** Whether a reasoning item has its content. An id alone is useless, because the provider stores nothing. */
export function isReplayable(item: JsonObject | undefined): boolean {
  if (item?.type !== 'reasoning') return false
  const { encrypted_content: encrypted, content } = item
  return (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
}

/** Returns the id of a reasoning item; may be empty. */
export function reasoningId(item: JsonObject): string {
  return typeof item.id === 'string' ? item.id : ''
}

import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'

/**
 * State that is needed to send a block back to the same model.
 *
 * The API rejects a reasoning item without its following item, and the following item's id without the reasoning. Therefore, the following
 * item stores the reasoning id in `after`. Requests contain a response's reasoning and ids only if all of these pairs are intact.
 */
export interface ReplayPayload {
  /** A complete reasoning item as received, stored on the item's first block. */
  item?: JsonObject
  /** Items of a provider-executed tool, or of an unknown kind, as received but without image bytes. */
  items?: JsonObject[]
  /** An unknown message part as received. */
  part?: JsonObject
  /** Id of the item that already contains this block's content when it is sent back. */
  shownBy?: string
  /** Id of the message or call. */
  id?: string
  /** The API's kind of the message (`commentary`, `final_answer`). */
  phase?: string
  /** Citations as received. */
  annotations?: JsonObject[]
  /** Namespace in which the provider found a call's tool. */
  namespace?: string
  /** The tool's caller, if not the model itself. */
  caller?: JsonObject
  /** Id of the reasoning item directly before this item. Empty if the reasoning item has no id. */
  after?: string
}

/** Returns a block's payload. Validates it, because a history may be untrusted. */
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

/** Returns whether a reasoning item contains its content. An id alone is useless, because the provider stores nothing. */
export function isReplayable(item: JsonObject | undefined): boolean {
  if (item?.type !== 'reasoning') return false
  const { encrypted_content: encrypted, content } = item
  return (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
}

/** Returns the id of a reasoning item; may be empty. */
export function reasoningId(item: JsonObject): string {
  return typeof item.id === 'string' ? item.id : ''
}

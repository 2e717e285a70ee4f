import type { JsonObject } from '../../contract/json.ts'
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
  /** Id of the message or call. */
  id?: string
  /** What kind of message this is, in words of the service (`commentary`, `final_answer`). */
  phase?: string
  /** Id of the reasoning item right before this item; empty where the service gives it none. */
  after?: string
}

/** The payload of a block, field by field checked: a history may come from anywhere. */
export function replayPayload(state: ProviderState | undefined): ReplayPayload {
  const { item, id, phase, after } = state?.payload ?? {}
  const payload: ReplayPayload = {}
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) payload.item = item
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

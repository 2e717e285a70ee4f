import { isJsonObject, type JsonObject } from '../../../../contract/json.ts'
import type { Content, ServiceToolContent } from '../../../../contract/message/content.ts'

/**
 * Provider state of a provider-executed tool call, for providers that send calls and results as blocks in one list. Contains both blocks,
 * unchanged. For a late result, also contains the number of blocks in between and the index among the results.
 */
export interface ServicePayload extends JsonObject {
  call?: JsonObject
  result?: JsonObject
  gap?: number
  order?: number
}

/** Returns the original blocks of a provider-executed tool call. */
export function payloadOf(block: ServiceToolContent | undefined): ServicePayload {
  return (block?.providerState?.payload ?? {}) as ServicePayload // codecs that use this type store no other payload
}

/** Adds `result` to the payload of `call`. On the wire, `result` follows the last block in `content`. */
export function withResult(content: readonly Content[], call: ServiceToolContent | undefined, result: JsonObject): ServicePayload {
  if (call === undefined) return { result }
  const gap = content.length - 1 - content.indexOf(call)
  const order = content.filter((block) => block.type === 'serviceTool' && payloadOf(block).result !== undefined).length
  return { ...payloadOf(call), result, ...(gap > 0 && { gap, order }) }
}

/** Groups late results by the position of the block that they follow, in order. */
export function lateResults(content: readonly Content[]): ReadonlyMap<number, readonly JsonObject[]> {
  const late = content.flatMap((block, at) => {
    const { call, result, gap, order = 0 } = block.type === 'serviceTool' ? payloadOf(block) : {}
    if (call === undefined || result === undefined || gap === undefined) return []
    return [{ result, order, place: Math.min(at + gap, content.length - 1) }]
  })
  const byPlace = new Map<number, JsonObject[]>()
  for (const { place, result } of late.toSorted((a, b) => a.order - b.order)) byPlace.set(place, [...(byPlace.get(place) ?? []), result])
  return byPlace
}

/** Returns the wire blocks of a provider-executed tool: the call, and the result if it follows directly. */
export function serviceToolBlocks(block: ServiceToolContent): JsonObject[] {
  const { call, result, gap } = payloadOf(block)
  return [call, gap === undefined ? result : undefined].filter((sent) => sent !== undefined)
}

/**
 * Wraps `encode` for responses with provider-executed tools or unknown blocks. Sends these blocks and late results back unchanged at their
 * positions.
 */
export function withReturnedBlocks(
  content: readonly Content[],
  encode: (block: Content, at: number) => readonly JsonObject[],
): (block: Content, at: number) => readonly JsonObject[] {
  const late = lateResults(content)
  return (block, at) => {
    const kept = block.type === 'opaque' ? block.providerState?.payload.block : undefined
    const own = block.type === 'serviceTool' ? serviceToolBlocks(block) : isJsonObject(kept) ? [kept] : encode(block, at)
    return [...own, ...(late.get(at) ?? [])]
  }
}

import { isJsonObject, type JsonObject } from '../../../../contract/json.ts'
import type { Content, ServiceToolContent } from '../../../../contract/message/content.ts'

/**
 * What is kept of a tool of the service, for services whose calls and results are blocks of one list: both as they came; where its result came later,
 * behind how many blocks, and as which of the results.
 */
export interface ServicePayload extends JsonObject {
  call?: JsonObject
  result?: JsonObject
  gap?: number
  order?: number
}

/** The blocks of a tool of the service, as they were sent. */
export function payloadOf(block: ServiceToolContent | undefined): ServicePayload {
  return (block?.providerState?.payload ?? {}) as ServicePayload // a codec that uses it writes and reads nothing else
}

/** The payload of `call` once its `result` has come, which stands at the end of `content` on the wire. */
export function withResult(content: readonly Content[], call: ServiceToolContent | undefined, result: JsonObject): ServicePayload {
  if (call === undefined) return { result }
  const gap = content.length - 1 - content.indexOf(call)
  const order = content.filter((block) => block.type === 'serviceTool' && payloadOf(block).result !== undefined).length
  return { ...payloadOf(call), result, ...(gap > 0 && { gap, order }) }
}

/** Results that came some blocks after their call, by the position behind which they belong, in their order. */
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

/** The blocks of a tool of the service as they go back: its call, and its result where nothing stood between. */
export function serviceToolBlocks(block: ServiceToolContent): JsonObject[] {
  const { call, result, gap } = payloadOf(block)
  return [call, gap === undefined ? result : undefined].filter((sent) => sent !== undefined)
}

/** `encode` for an answer of `content` with tools of the service or unknown blocks: each goes back as it came, where it stood, and so does what came later of a tool. */
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

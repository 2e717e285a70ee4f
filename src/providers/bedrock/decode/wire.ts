import type { Usage } from '../../../contract/model/usage.ts'
import { laterCount, tokenCount } from '../../kit/decode/decoder.ts'

/** All fields that are read, across event types. The API adds others, such as the padding `p`. */
export interface WireEvent {
  contentBlockIndex?: number
  start?: {
    toolUse?: { toolUseId?: string; name?: string; type?: string; input?: unknown }
    toolResult?: WireResult
    image?: { format?: unknown }
  }
  delta?: {
    text?: string
    toolUse?: { input?: unknown }
    reasoningContent?: { text?: string; signature?: string; redactedContent?: string }
    citation?: object
    toolResult?: unknown
    image?: { source?: { bytes?: unknown } }
  }
  stopReason?: string
  usage?: WireUsage
  serviceTier?: { type?: unknown } | null
}

export interface WireUsage {
  inputTokens?: number
  outputTokens?: number
  cacheReadInputTokens?: number
  cacheWriteInputTokens?: number
  cacheDetails?: unknown
  totalTokens?: number
  serverToolUsage?: unknown
}

/** Returns the tokens written to the one-hour cache, or `undefined` if not reported. */
function hourWrites(cacheDetails: unknown): number | undefined {
  if (!Array.isArray(cacheDetails)) return undefined
  return cacheDetails.reduce((sum, detail) => sum + (Object(detail).ttl === '1h' ? tokenCount(Object(detail).inputTokens) : 0), 0)
}

/** Applies a report to `usage`. Counts are totals, so the latest count wins. Zeros are ignored. */
export function addUsage(usage: Usage, wire: WireUsage | null | undefined): void {
  usage.input = laterCount(wire?.inputTokens, usage.input)
  usage.output = laterCount(wire?.outputTokens, usage.output)
  usage.cacheRead = laterCount(wire?.cacheReadInputTokens, usage.cacheRead)
  usage.cacheWrite = laterCount(wire?.cacheWriteInputTokens, usage.cacheWrite)
  const forAnHour = hourWrites(wire?.cacheDetails)
  if (forAnHour !== undefined) usage.cacheWrite1h = forAnHour
  const sum = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  usage.totalTokens = Math.max(tokenCount(wire?.totalTokens, sum), usage.totalTokens)
}

/** Start of a provider-executed result. */
export interface WireResult {
  toolUseId?: unknown
  type?: unknown
  status?: unknown
}

/** Events that are read. */
export const knownEvents: ReadonlySet<string> = new Set([
  ...['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'],
])

/** Known fields: read, or ignored because they only describe the response. */
export const knownFields = {
  event: new Set([
    ...['contentBlockIndex', 'start', 'delta', 'stopReason', 'usage', 'role', 'p', 'metrics', 'trace', 'performanceConfig', 'serviceTier'],
    ...['additionalModelResponseFields', 'cacheDetails'],
  ]),
  start: new Set(['toolUse', 'toolResult', 'image']),
  delta: new Set(['text', 'toolUse', 'reasoningContent', 'citation', 'toolResult', 'image']),
  call: new Set(['toolUseId', 'name', 'type', 'input']),
  reasoning: new Set(['text', 'signature', 'redactedContent']),
  kind: new Set(['contentBlockIndex', 'p']),
}

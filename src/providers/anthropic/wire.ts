import { combineUsage, emptyUsage, type Usage } from '../../contract/model/usage.ts'
import { laterCount, tokenCount } from '../kit/decode/decoder.ts'
import { objectOf } from '../kit/decode/wire-value.ts'

/** All fields that are read, across event types. Each is validated before use. */
export interface WireEvent extends WireMessage {
  type?: string
  index?: number
  message?: WireMessage
  content_block?: WireBlock
  delta?: {
    type?: string
    text?: string
    thinking?: string
    signature?: string
    partial_json?: unknown
    citation?: object | null
    stop_reason?: string | null
    stop_details?: unknown
    container?: unknown
  }
  error?: unknown
}

export interface WireMessage {
  id?: string
  model?: string
  usage?: WireUsage
  content?: (WireBlock | null)[]
  stop_reason?: string | null
  container?: unknown
}

export interface WireBlock {
  type?: string
  text?: string
  thinking?: string
  signature?: string
  data?: string
  id?: string
  name?: string
  input?: unknown
  caller?: unknown
  toolset_name?: unknown
  citations?: (object | null)[] | null
}

export interface WireUsage {
  input_tokens?: number | null
  output_tokens?: number | null
  cache_read_input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  output_tokens_details?: { thinking_tokens?: number | null } | null
  cache_creation?: { ephemeral_1h_input_tokens?: number | null } | null
  server_tool_use?: { web_search_requests?: number | null } | null
  /** Usage of each internal request. */
  iterations?: unknown
  service_tier?: unknown
}

/**
 * Applies a report to `usage`. Counts are totals, so the latest count wins. Some gateways send a partial final report, with zeros for the
 * input.
 */
export function addUsage(usage: Usage, wire: WireUsage | null | undefined): void {
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = wire ?? {}
  // A report with any nonzero input count is complete, including its zeros. Only zeros mean no information.
  const inputCount = [input, read, written].some((value) => tokenCount(value) > 0) ? tokenCount : laterCount
  usage.input = inputCount(input, usage.input)
  usage.output = laterCount(wire?.output_tokens, usage.output)
  usage.cacheRead = inputCount(read, usage.cacheRead)
  usage.cacheWrite = inputCount(written, usage.cacheWrite)
  usage.reasoning = laterCount(wire?.output_tokens_details?.thinking_tokens, usage.reasoning)
  if (wire?.cache_creation) usage.cacheWrite1h = laterCount(wire.cache_creation.ephemeral_1h_input_tokens, usage.cacheWrite1h ?? 0)
  if (wire?.server_tool_use) usage.searches = laterCount(wire.server_tool_use.web_search_requests, usage.searches ?? 0)
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  addIterations(usage, wire?.iterations)
}

/**
 * Internal requests that the other counts exclude. The advisor uses a different model with an unknown price, so its tokens are priced like
 * this model's.
 */
const separateKinds: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])
/** Internal requests that the other counts include. */
const kindsWithin: ReadonlySet<unknown> = new Set(['message', 'fallback_message'])

/** Adds internal requests to the usage. */
function addIterations(usage: Usage, iterations: unknown): void {
  if (!Array.isArray(iterations)) return
  const each = iterations.map((entry) => countsOf(objectOf(entry)))
  const separate = each.filter(({ type }) => separateKinds.has(type)).reduce((sum, { counts }) => combineUsage(sum, counts), emptyUsage())
  const { input, output, cacheRead, cacheWrite, cacheWrite1h, totalTokens } = separate
  if (totalTokens > 0) usage.beside = { input, output, cacheRead, cacheWrite, ...(cacheWrite1h !== undefined && { cacheWrite1h }) }
  const within = each.filter(({ type }) => kindsWithin.has(type))
  const last = within.at(-1)
  if (last !== undefined && within.length > 1) usage.contextTokens = last.counts.totalTokens
}

function countsOf({ type, iterations: _none, ...wire }: WireUsage & { type?: unknown }): { type: unknown; counts: Usage } {
  const counts = emptyUsage()
  addUsage(counts, wire)
  return { type, counts }
}

/** Known fields: read, or ignored because they only describe the response. */
export const knownFields = {
  event: new Set([
    ...['type', 'index', 'delta', 'content_block', 'message', 'usage', 'error', 'context_management'],
    // Known fields of a message that was not streamed.
    ...['id', 'role', 'model', 'content', 'stop_reason', 'stop_sequence', 'stop_details', 'container'],
  ]),
  delta: new Set([
    ...['type', 'text', 'thinking', 'signature', 'partial_json', 'citation', 'stop_reason', 'stop_sequence', 'stop_details', 'container'],
  ]),
  block: new Set([
    ...['type', 'text', 'thinking', 'signature', 'data', 'id', 'name', 'input', 'caller', 'citations', 'cache_control', 'toolset_name'],
  ]),
  kind: new Set(['type', 'index']),
}

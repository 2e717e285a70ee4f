import type { Usage } from '../../contract/model/usage.ts'
import { tokenCount } from '../kit/decode/decoder.ts'

/** The fields that are read, of all event types. Services add others; each is looked at before use. */
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
  service_tier?: unknown
}

/** Adds a report to `usage`. The counts are totals, so the latest wins; gateways may report some of them only at the end. */
export function addUsage(usage: Usage, wire: WireUsage | null | undefined): void {
  usage.input = tokenCount(wire?.input_tokens, usage.input)
  usage.output = tokenCount(wire?.output_tokens, usage.output)
  usage.cacheRead = tokenCount(wire?.cache_read_input_tokens, usage.cacheRead)
  usage.cacheWrite = tokenCount(wire?.cache_creation_input_tokens, usage.cacheWrite)
  usage.reasoning = tokenCount(wire?.output_tokens_details?.thinking_tokens, usage.reasoning)
  if (wire?.cache_creation) usage.cacheWrite1h = tokenCount(wire.cache_creation.ephemeral_1h_input_tokens, usage.cacheWrite1h)
  if (wire?.server_tool_use) usage.searches = tokenCount(wire.server_tool_use.web_search_requests, usage.searches)
  usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
}

/** The fields that are read or passed over: what they say is about the answer, not in it. */
export const knownFields = {
  event: new Set([
    ...['type', 'index', 'delta', 'content_block', 'message', 'usage', 'error', 'context_management'],
    // Of a message that did not stream.
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

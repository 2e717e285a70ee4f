import type { Usage } from '../../contract/model/usage.ts'
import { tokenCount } from '../kit/decode/decoder.ts'

/** The fields of a stream event that are read, of all types. Services leave out or null any of them, so each is looked at before use. */
export interface ResponsesEvent {
  type?: string
  output_index?: number
  content_index?: number
  summary_index?: number
  item_id?: string
  call_id?: string
  name?: string
  delta?: unknown
  arguments?: unknown
  item?: WireItem | null
  annotation?: object | null
  partial_image_b64?: unknown
  response?: WireResponse | null
  error?: unknown
  code?: unknown
}

/** An output item: a message, reasoning, a call, or something the service did by itself. */
export interface WireItem {
  type?: string
  id?: string
  phase?: unknown
  call_id?: string
  name?: string
  arguments?: unknown
  namespace?: unknown
  caller?: unknown
  encrypted_content?: unknown
  content?: string | readonly (WirePart | null)[] | null
  summary?: string | readonly (WirePart | null)[] | null
}

/** A part of a message or of a summary. */
export interface WirePart {
  type?: string
  text?: unknown
  refusal?: unknown
  annotations?: readonly (object | null)[] | null
  logprobs?: readonly (object | null)[] | null
}

/** The whole response, as the first and the last events repeat it. */
export interface WireResponse {
  id?: string
  model?: string
  status?: string | null
  error?: unknown
  incomplete_details?: { reason?: string | null } | null
  output?: readonly (WireItem | null)[] | null
  usage?: WireUsage | null
  tool_usage?: { web_search?: { num_requests?: number | null } | null } | null
  service_tier?: unknown
}

/** Token counts. */
export interface WireUsage {
  input_tokens?: number | null
  output_tokens?: number | null
  total_tokens?: number | null
  input_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null
  output_tokens_details?: { reasoning_tokens?: number | null } | null
  /** xAI: ten thousand millionths of a dollar. */
  cost_in_usd_ticks?: number | null
}

/** An unknown value as an object to read fields from, each of which is checked before use. */
export function objectOf<Fields extends object>(value: unknown): Fields {
  return (typeof value === 'object' && value !== null ? value : {}) as Fields
}

/** Token counts in the terms of `Usage`: cached tokens are taken out of the prompt. */
export function usageOf(wire: WireUsage, tools?: WireResponse['tool_usage']): Usage {
  const cacheRead = tokenCount(wire.input_tokens_details?.cached_tokens)
  const cacheWrite = tokenCount(wire.input_tokens_details?.cache_write_tokens)
  const input = Math.max(0, tokenCount(wire.input_tokens) - cacheRead - cacheWrite)
  const output = tokenCount(wire.output_tokens)
  const reasoning = tokenCount(wire.output_tokens_details?.reasoning_tokens)
  const totalTokens = tokenCount(wire.total_tokens) || input + output + cacheRead + cacheWrite
  const searches = tools?.web_search?.num_requests
  const ticks = wire.cost_in_usd_ticks
  return {
    ...{ input, output, reasoning, cacheRead, cacheWrite, totalTokens },
    ...(typeof searches === 'number' && { searches: tokenCount(searches) }),
    ...(typeof ticks === 'number' && ticks >= 0 && { reportedCost: ticks / 1e10 }),
  }
}

import type { Usage } from '../../../contract/model/usage.ts'
import { reportedCost, tokenCount } from '../../kit/decode/decoder.ts'

/** Fields of a stream event that are read. Providers may omit any field or send null, so each is validated before use. */
export interface ResponsesEvent {
  type?: string
  output_index?: number
  content_index?: number
  summary_index?: number
  item_id?: string
  call_id?: string
  name?: string
  delta?: unknown
  logprobs?: unknown
  annotation?: unknown
  annotation_index?: unknown
  arguments?: unknown
  code?: unknown
  input?: unknown
  command?: unknown
  command_index?: unknown
  partial_image_b64?: unknown
  item?: WireItem | null
  response?: WireResponse | null
  error?: unknown
}

/** An output item: a message, reasoning, a call, or a provider-executed tool. */
export interface WireItem {
  type?: string
  id?: string | null
  phase?: unknown
  call_id?: string | null
  name?: string | null
  namespace?: unknown
  caller?: unknown
  arguments?: unknown
  encrypted_content?: unknown
  content?: string | readonly (WirePart | null)[] | null
  summary?: string | readonly (WirePart | null)[] | null
}

/** A part of a message or summary. */
export interface WirePart {
  type?: string
  text?: unknown
  refusal?: unknown
  annotations?: unknown
  logprobs?: unknown
}

/** The response object in the first and last events. */
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
  /** xAI reports ticks: 10^10 ticks are one dollar. */
  cost_in_usd_ticks?: unknown
  /** OpenRouter: dollars. */
  cost?: unknown
}

const ticksPerDollar = 10_000_000_000

/** Converts the usage of a response, or `undefined` if not reported. Subtracts cached tokens from the prompt. */
export function usageOf({ usage, tool_usage: tools }: WireResponse): Usage | undefined {
  const searches = tools?.web_search?.num_requests
  const isCounted = typeof searches === 'number' && searches >= 0
  if (!usage && !isCounted) return undefined
  return { ...tokensOf(usage ?? {}), ...(isCounted && { searches }), ...(usage && costOf(usage)) }
}

function tokensOf(wire: WireUsage): Usage {
  const cacheRead = tokenCount(wire.input_tokens_details?.cached_tokens)
  const cacheWrite = tokenCount(wire.input_tokens_details?.cache_write_tokens)
  const input = Math.max(0, tokenCount(wire.input_tokens) - cacheRead - cacheWrite)
  const output = tokenCount(wire.output_tokens)
  const reasoning = tokenCount(wire.output_tokens_details?.reasoning_tokens)
  const totalTokens = tokenCount(wire.total_tokens) || input + output + cacheRead + cacheWrite
  return { input, output, reasoning, cacheRead, cacheWrite, totalTokens }
}

function costOf({ cost_in_usd_ticks: ticks, cost }: WireUsage): { reportedCost?: number } {
  const reported = reportedCost(typeof ticks === 'number' ? ticks / ticksPerDollar : cost)
  return reported === undefined ? {} : { reportedCost: reported }
}

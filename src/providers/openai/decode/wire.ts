import type { Usage } from '../../../contract/model/usage.ts'
import { reportedCost, tokenCount } from '../../kit/decode/decoder.ts'
import type { ReasoningDelta } from '../thinking-fields.ts'

/** Fields of a Chat Completions chunk that are read. Backends may omit any field or send null. */
export interface ChatChunk {
  id?: string
  model?: string
  choices?: (ChatChoice | null)[] | null
  usage?: ChatUsage | null
  /** Groq repeats the usage here. */
  x_groq?: { usage?: ChatUsage | null } | null
  error?: unknown
  /** MiniMax reports errors here. */
  base_resp?: { status_code?: number | null } | null
  /** Mistral's flat error object sets this to `error`. */
  object?: string
  service_tier?: unknown
  /** Perplexity sends the sources for the numbers in the text with every chunk. */
  citations?: unknown
  search_results?: unknown
}

/** A choice. Only the choice with index 0 is read. */
export interface ChatChoice {
  index?: number | null
  delta?: ChatDelta | null
  /** Complete message, which some backends send instead of deltas. */
  message?: ChatDelta | null
  /** OpenRouter reports upstream errors here. */
  error?: unknown
  finish_reason?: string | null
  /** Moonshot reports usage here. */
  usage?: ChatUsage | null
  logprobs?: { content?: unknown; refusal?: unknown } | null
}

/** Content that a chunk adds. */
export interface ChatDelta extends ReasoningDelta {
  content?: string | ChatContentPart[] | null
  refusal?: string | null
  reasoning_details?: unknown
  tool_calls?: (ChatToolCall | null)[] | ChatToolCall | { [index: string]: ChatToolCall | null } | null
  /** A call in the oldest form of the protocol. */
  function_call?: ChatFunction | null
  images?: unknown
  audio?: unknown
  annotations?: unknown
  /** Groq reports provider-executed tools here. */
  executed_tools?: unknown
}

/** Mistral streams content as parts while it reasons. */
export interface ChatContentPart {
  type?: string
  text?: string
  thinking?: string | { text?: string }[]
}

/** A fragment of a tool call. */
export interface ChatToolCall {
  index?: number | null
  id?: string | null
  function?: ChatFunction | null
  name?: string | null
  arguments?: unknown
}

/** A call's function. */
export interface ChatFunction {
  name?: string | null
  arguments?: unknown
}

/** Token counts, with each backend's fields for cached tokens. */
export interface ChatUsage {
  prompt_tokens?: number | null
  completion_tokens?: number | null
  total_tokens?: number | null
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null
  completion_tokens_details?: { reasoning_tokens?: number | null; audio_tokens?: number | null } | null
  /** Cost in USD. OpenRouter sends a number, and Perplexity sends an object. */
  cost?: number | { total_cost?: number | null } | null
  server_tool_use_details?: { web_search_requests?: number | null } | null
  num_search_queries?: number | null
  /** DeepSeek's field for cached tokens. */
  prompt_cache_hit_tokens?: number | null
  /** Moonshot's field for cached tokens. */
  cached_tokens?: number | null
}

/**
 * Converts token counts to `Usage`. Subtracts cached tokens from the prompt, and includes reasoning in the output.
 *
 * xAI excludes reasoning from `completion_tokens`, but not from the total. Therefore the total determines the output if present.
 */
export function usageOf(raw: ChatUsage, isReasoningOutside: boolean): Usage {
  const prompt = tokenCount(raw.prompt_tokens)
  const completion = tokenCount(raw.completion_tokens)
  const reasoning = tokenCount(raw.completion_tokens_details?.reasoning_tokens)
  const total = tokenCount(raw.total_tokens)
  const cacheRead =
    tokenCount(raw.prompt_tokens_details?.cached_tokens) || tokenCount(raw.prompt_cache_hit_tokens) || tokenCount(raw.cached_tokens)
  const cacheWrite = tokenCount(raw.prompt_tokens_details?.cache_write_tokens)
  const isOutside = total === 0 ? isReasoningOutside : reasoning > 0 && total === prompt + completion + reasoning
  const output = isOutside ? completion + reasoning : completion
  const input = Math.max(0, prompt - cacheRead - cacheWrite)
  const usage: Usage = { input, output, reasoning, cacheRead, cacheWrite, totalTokens: total || input + output + cacheRead + cacheWrite }
  const cost = typeof raw.cost === 'number' ? raw.cost : raw.cost?.total_cost
  const reported = reportedCost(cost)
  if (reported !== undefined) usage.reportedCost = reported
  const searches = tokenCount(raw.server_tool_use_details?.web_search_requests ?? raw.num_search_queries)
  if (searches > 0) usage.searches = searches
  const sound = tokenCount(raw.completion_tokens_details?.audio_tokens)
  if (sound > 0) usage.audioOutput = sound
  return usage
}

/** Returns a chunk's usage report. */
export function reportIn({ usage, x_groq: groq }: ChatChunk): ChatUsage | null | undefined {
  return usage || groq?.usage
}

/** Merges a later report over an earlier one: zero and absent counts keep the earlier value. */
export function laterReport(before: ChatUsage | undefined, raw: ChatUsage): ChatUsage {
  if (before === undefined) return raw
  const reported = Object.entries(raw).filter(([, value]) => Boolean(value))
  const merged: ChatUsage = { ...before, ...Object.fromEntries(reported) }
  // The total is not usable unless all counts are present.
  const counts = ['prompt_tokens', 'completion_tokens'] as const
  if (counts.some((name) => !raw[name] && merged[name])) merged.total_tokens = Math.max(sumOf(merged), tokenCount(merged.total_tokens))
  return merged
}

function sumOf({ prompt_tokens: prompt, completion_tokens: completion }: ChatUsage): number {
  return tokenCount(prompt) + tokenCount(completion)
}

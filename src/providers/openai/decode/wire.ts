import type { Usage } from '../../../contract/model/usage.ts'
import { reportedCost, tokenCount } from '../../kit/decode/decoder.ts'
import type { ReasoningDelta } from '../thinking-fields.ts'

/** The fields of a Chat Completions chunk that are read. Backends leave out or null any of them. */
export interface ChatChunk {
  id?: string
  model?: string
  choices?: (ChatChoice | null)[] | null
  usage?: ChatUsage | null
  /** Groq repeats the usage here. */
  x_groq?: { usage?: ChatUsage | null } | null
  error?: unknown
  /** MiniMax says here what went wrong. */
  base_resp?: { status_code?: number | null } | null
  /** Mistral's flat error object says `error` here. */
  object?: string
  service_tier?: unknown
  /** Perplexity: where the numbers in the text lead, in every chunk. */
  citations?: unknown
  search_results?: unknown
}

/** One alternative answer; only that of index 0 is read. */
export interface ChatChoice {
  index?: number | null
  delta?: ChatDelta | null
  /** Some backends send it in place of deltas. */
  message?: ChatDelta | null
  /** OpenRouter says here what went wrong at the service behind it. */
  error?: unknown
  finish_reason?: string | null
  /** Moonshot reports here. */
  usage?: ChatUsage | null
  logprobs?: { content?: unknown; refusal?: unknown } | null
}

/** What a chunk adds. */
export interface ChatDelta extends ReasoningDelta {
  content?: string | ChatContentPart[] | null
  refusal?: string | null
  reasoning_details?: unknown
  tool_calls?: (ChatToolCall | null)[] | ChatToolCall | { [index: string]: ChatToolCall | null } | null
  /** The oldest form of a call. */
  function_call?: ChatFunction | null
  images?: unknown
  audio?: unknown
  annotations?: unknown
  /** Groq: what it ran by itself. */
  executed_tools?: unknown
}

/** Mistral streams its content in parts while it thinks. */
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

/** What a call is of. */
export interface ChatFunction {
  name?: string | null
  arguments?: unknown
}

/** Token counts, with the places where backends put the cached ones. */
export interface ChatUsage {
  prompt_tokens?: number | null
  completion_tokens?: number | null
  total_tokens?: number | null
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null
  completion_tokens_details?: { reasoning_tokens?: number | null; audio_tokens?: number | null } | null
  /** OpenRouter in USD; Perplexity in an object. */
  cost?: number | { total_cost?: number | null } | null
  server_tool_use_details?: { web_search_requests?: number | null } | null
  num_search_queries?: number | null
  /** DeepSeek. */
  prompt_cache_hit_tokens?: number | null
  /** Moonshot. */
  cached_tokens?: number | null
}

/**
 * Token counts in the terms of `Usage`: cached tokens taken out of the prompt, reasoning inside the output.
 *
 * xAI counts reasoning beside `completion_tokens`; its total shows it, so the total decides where there is one.
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

/** What a chunk reports beside its choices. */
export function reportIn({ usage, x_groq: groq }: ChatChunk): ChatUsage | null | undefined {
  return usage || groq?.usage
}

/** What a later report says, on top of an earlier one: fields that are zero, absent or nothing keep what they said before. */
export function laterReport(before: ChatUsage | undefined, raw: ChatUsage): ChatUsage {
  if (before === undefined) return raw
  const said = Object.entries(raw).filter(([, value]) => Boolean(value))
  const merged: ChatUsage = { ...before, ...Object.fromEntries(said) }
  // A total beside a count that it left out is no total.
  const counts = ['prompt_tokens', 'completion_tokens'] as const
  if (counts.some((name) => !raw[name] && merged[name])) merged.total_tokens = Math.max(sumOf(merged), tokenCount(merged.total_tokens))
  return merged
}

function sumOf({ prompt_tokens: prompt, completion_tokens: completion }: ChatUsage): number {
  return tokenCount(prompt) + tokenCount(completion)
}

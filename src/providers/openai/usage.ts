import type { Usage } from '../../types/usage.ts'
import { tokenCount } from '../shared/decode/decoder.ts'
import type { ChatUsage } from './wire.ts'

/**
 * Token counts in the terms of `Usage`: cached tokens taken out of the prompt, reasoning inside the output.
 *
 * xAI counts reasoning beside `completion_tokens`; its total shows it, so the total decides where there is one.
 * Source: reference/providers.md §0 "Usage invariant", §2.
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
  return { input, output, reasoning, cacheRead, cacheWrite, totalTokens: total || input + output + cacheRead + cacheWrite }
}

import type { Usage } from '../../types/usage.ts'
import { tokenCount } from '../shared/token-count.ts'
import type { WireUsage } from './wire.ts'

/** Token counts in the terms of `Usage`: cached tokens are taken out of the prompt. Source: reference/providers.md §3 "Usage". */
export function usageOf(wire: WireUsage): Usage {
  const cacheRead = tokenCount(wire.input_tokens_details?.cached_tokens)
  const cacheWrite = tokenCount(wire.input_tokens_details?.cache_write_tokens)
  const input = Math.max(0, tokenCount(wire.input_tokens) - cacheRead - cacheWrite)
  const output = tokenCount(wire.output_tokens)
  const reasoning = tokenCount(wire.output_tokens_details?.reasoning_tokens)
  const totalTokens = tokenCount(wire.total_tokens) || input + output + cacheRead + cacheWrite
  return { input, output, reasoning, cacheRead, cacheWrite, totalTokens }
}

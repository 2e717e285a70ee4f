import type { Usage } from '../../types/usage.ts'
import type { WireUsage } from './wire.ts'

/** Token counts in the terms of `Usage`: cached tokens are taken out of the prompt. Source: reference/providers.md §3 "Usage". */
export function usageOf(wire: WireUsage): Usage {
  const cacheRead = count(wire.input_tokens_details?.cached_tokens)
  const cacheWrite = count(wire.input_tokens_details?.cache_write_tokens)
  const input = Math.max(0, count(wire.input_tokens) - cacheRead - cacheWrite)
  const output = count(wire.output_tokens)
  const reasoning = count(wire.output_tokens_details?.reasoning_tokens)
  const totalTokens = count(wire.total_tokens) || input + output + cacheRead + cacheWrite
  return { input, output, reasoning, cacheRead, cacheWrite, totalTokens }
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0
}

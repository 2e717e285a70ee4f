import type { AgentOptions } from '../../../src/index.ts'
import type { Settings } from './settings.ts'

/** What `new Agent` takes besides model and tools: plain data, the same in the page and in the program that "view code" gives. */
export type PlainOptions = Required<Pick<AgentOptions, 'systemPrompt' | 'thinking'>> & Pick<AgentOptions, 'limits' | 'contextConfig'>

export function plainOptions({ systemPrompt, thinking, limits, compaction }: Settings): PlainOptions {
  const { isOn, maxContextTokens, compactAt, keepRecentTurns } = compaction
  return {
    systemPrompt,
    thinking,
    limits: { maxTurns: limits.maxTurns, maxTotalTokens: limits.maxTotalTokens, maxDurationMs: limits.maxMinutes * 60_000 },
    contextConfig: {
      ...(maxContextTokens > 0 && { maxContextTokens }),
      compaction: isOn ? { compactAtPct: compactAt / 100, keepRecentTurns } : false,
    },
  }
}

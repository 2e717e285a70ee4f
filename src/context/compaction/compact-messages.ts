import type { AgentMessage } from '../../contract/message/message.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import type { ContextConfig } from '../../types/context/compaction.ts'
import { resolveContext } from '../tokens/context-limits.ts'
import { contextOptions } from '../tokens/context-options.ts'
import { totalTokens } from '../tokens/estimate.ts'
import { turnsOf } from '../view/turns.ts'
import { keepNewest } from './default-compaction.ts'
import { middleMarker, olderMarker, summaryLines } from './summary-lines.ts'
import { cutToolOutputs } from './tool-output.ts'

/**
 * Shrinks `messages` to `maxContextTokens` minus `systemPromptTokens`, with the mildest sufficient step.
 *
 * 1. Cut long tool outputs.
 * 2. Reduce responses older than `keepRecentTurns` turns to one line each, without results.
 * 3. Drop everything between the first `keepFirstTurns` turns and the recent ones.
 * 4. Keep only the newest turns that fit.
 *
 * **Contract**
 * - Pure: unchanged messages keep their identity, and shortened messages keep their id. With `compaction: false`, or within the budget, the
 *   messages are returned unchanged.
 * - The result always fits. It is empty if not even the marker fits. A call and its result stay together.
 * - Throws `ConfigError` `invalidOption` with the name of the option.
 * - Use this function for your own message lists. An agent compacts its requests automatically and keeps its history.
 *
 * Source: docs/concepts/context.md
 */
export function compactMessages(messages: readonly AgentMessage[], config: Partial<ContextConfig> = {}): AgentMessage[] {
  checkOptions(config, contextOptions)
  const context = resolveContext(config, { contextWindow: 0, maxTokens: 0 })
  if (context === undefined) return [...messages]
  const { counter } = context
  const { toolOutputMaxLines, keepFirstTurns, keepRecentTurns } = context.compaction
  const budget = context.maxContextTokens - context.systemPromptTokens
  const fits = (list: readonly AgentMessage[]) => totalTokens(list, counter) <= budget
  if (fits(messages)) return [...messages]

  const turns = turnsOf(messages).map((turn) => cutToolOutputs(turn, toolOutputMaxLines))
  if (fits(turns.flat())) return turns.flat()

  const recentStart = Math.max(0, turns.length - keepRecentTurns)
  const groups = turns.map((turn, at) => (at < recentStart ? summaryLines(turn) : turn))
  if (fits(groups.flat())) return groups.flat()

  if (keepFirstTurns < recentStart) {
    const removed = groups.slice(keepFirstTurns, recentStart).flat().length
    const result = [...groups.slice(0, keepFirstTurns).flat(), middleMarker(removed), ...groups.slice(recentStart).flat()]
    if (fits(result)) return result
  }
  return keepNewest(groups, { maxTokens: budget, removed: 0, marker: olderMarker, counter })
}

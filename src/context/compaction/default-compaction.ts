import type { CompactionInput, CompactionStrategy, TokenCounter } from '../../types/compaction.ts'
import type { AgentMessage } from '../../types/message.ts'
import { messageTokens, totalTokens } from '../tokens.ts'
import { keepNewest } from './keep-newest.ts'
import { middleMarker, summaryLines } from './summary-lines.ts'
import { cutToolOutputs } from './tool-output.ts'

/** Limits of a summary section, and what stands for the messages that are in none. */
export interface SummaryOptions {
  maxTokens: number
  /** Messages left out already. */
  removed: number
  marker(removed: number): AgentMessage
  counter: TokenCounter
}

/**
 * Compaction without a model: the first turns stay, answers in the middle become one line each, long tool outputs at the end are cut.
 *
 * **Contract**: `keepCompacted` keeps what the user said as it was. When the lines do not fit `maxTokens`, the newest stay behind a marker
 * `[Context compacted: N messages removed to fit context window]`.
 *
 * Source: spec/14 "DefaultBlockCompaction", spec/27.
 */
export const defaultCompaction = {
  keepFirst: ({ config }: CompactionInput): number => config.keepFirstTurns,
  keepCompacted: ({ turns, maxTokens, counter }: CompactionInput): AgentMessage[] =>
    summariesWithin(turns, { maxTokens, counter, removed: 0, marker: middleMarker }),
  keepRecent: ({ turns, config }: CompactionInput): AgentMessage[] => cutToolOutputs(turns.flat(), config.toolOutputMaxLines),
} satisfies CompactionStrategy

/** One line per answer, the newest that fit. A message too large for all of the room does not keep older ones out. */
export function summariesWithin(turns: readonly (readonly AgentMessage[])[], options: SummaryOptions): AgentMessage[] {
  const { maxTokens, removed, marker, counter } = options
  const lines = summaryLines(turns.flat())
  if (removed === 0 && totalTokens(lines, counter) <= maxTokens) return lines
  const room = maxTokens - messageTokens(marker(removed + lines.length), counter)
  const fitting = lines.filter((line) => messageTokens(line, counter) <= room)
  const groups = fitting.map((line) => [line])
  return keepNewest(groups, { maxTokens, counter, marker, removed: removed + lines.length - fitting.length })
}

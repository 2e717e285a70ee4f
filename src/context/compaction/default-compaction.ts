import type { AgentMessage } from '../../contract/message/message.ts'
import type { CompactionInput, CompactionStrategy, TokenCounter } from '../../types/context/compaction.ts'
import { messageTokens, totalTokens } from '../tokens/estimate.ts'
import { middleMarker, summaryLines } from './summary-lines.ts'
import { cutToolOutputs } from './tool-output.ts'

/**
 * Compaction without a model: the first turns stay, answers in the middle become one line each, long tool outputs at the end are cut.
 *
 * **Contract**: `keepCompacted` keeps what the user said as it was. When the lines do not fit `maxTokens`, the newest stay behind a marker
 * `[Context compacted: N messages removed to fit context window]`.
 *
 * Source: docs/concepts/context.md
 */
export const defaultCompaction = {
  keepFirst: ({ config }: CompactionInput): number => config.keepFirstTurns,
  keepCompacted: ({ turns, maxTokens, counter }: CompactionInput): AgentMessage[] =>
    summariesWithin(turns, { maxTokens, counter, removed: 0, marker: middleMarker }),
  keepRecent: ({ turns, config }: CompactionInput): AgentMessage[] => cutToolOutputs(turns.flat(), config.toolOutputMaxLines),
} satisfies CompactionStrategy

/** One line per answer, the newest that fit. A message too large for all of the room does not keep older ones out. */
export function summariesWithin(turns: readonly (readonly AgentMessage[])[], options: KeepOptions): AgentMessage[] {
  const { maxTokens, removed, marker, counter } = options
  const lines = summaryLines(turns.flat())
  if (removed === 0 && totalTokens(lines, counter) <= maxTokens) return lines
  const room = maxTokens - messageTokens(marker(removed + lines.length), counter)
  const fitting = lines.filter((line) => messageTokens(line, counter) <= room)
  const groups = fitting.map((line) => [line])
  return keepNewest(groups, { maxTokens, counter, marker, removed: removed + lines.length - fitting.length })
}

/** What `keepNewest` may keep. */
export interface KeepOptions {
  maxTokens: number
  /** Messages that are gone already. */
  removed: number
  /** The message that stands for what is gone. */
  marker(removed: number): AgentMessage
  counter: TokenCounter
}

/**
 * The newest groups that fit, in order, behind a marker for the others and for what was gone before. Groups stay whole, and the first one
 * (from the end) that does not fit ends it. All of them, without marker, when nothing is gone; nothing at all where not even the marker fits.
 */
export function keepNewest(groups: readonly (readonly AgentMessage[])[], options: KeepOptions): AgentMessage[] {
  const { maxTokens, removed, marker, counter } = options
  const all = groups.flat()
  if (removed === 0 && totalTokens(all, counter) <= maxTokens) return all
  // Measured at its longest: its count is not known yet.
  let room = maxTokens - messageTokens(marker(removed + all.length), counter)
  if (room < 0) return []
  let from = groups.length
  for (; from > 0; from -= 1) {
    room -= totalTokens(groups[from - 1] ?? [], counter)
    if (room < 0) break
  }
  const kept = groups.slice(from).flat()
  return [marker(removed + all.length - kept.length), ...kept]
}

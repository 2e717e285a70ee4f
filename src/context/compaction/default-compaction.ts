import type { AgentMessage } from '../../contract/message/message.ts'
import type { CompactionInput, CompactionStrategy, TokenCounter } from '../../types/context/compaction.ts'
import { messageTokens, totalTokens } from '../tokens/estimate.ts'
import { middleMarker, summaryLines } from './summary-lines.ts'
import { cutToolOutputs } from './tool-output.ts'

/**
 * Compacts without a model: keeps the first turns, reduces responses in the middle to one line each, and cuts long tool outputs at the end.
 *
 * **Contract**: `keepCompacted` keeps user messages unchanged. If the lines exceed `maxTokens`, retains the newest lines after a marker
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

/**
 * Returns one line per response, keeping the newest lines that fit. A message that exceeds the whole budget does not exclude older
 * messages.
 */
export function summariesWithin(turns: readonly (readonly AgentMessage[])[], options: KeepOptions): AgentMessage[] {
  const { maxTokens, removed, marker, counter } = options
  const lines = summaryLines(turns.flat())
  if (removed === 0 && totalTokens(lines, counter) <= maxTokens) return lines
  const room = maxTokens - messageTokens(marker(removed + lines.length), counter)
  const fitting = lines.filter((line) => messageTokens(line, counter) <= room)
  const groups = fitting.map((line) => [line])
  return keepNewest(groups, { maxTokens, counter, marker, removed: removed + lines.length - fitting.length })
}

/** Limits of `keepNewest`. */
export interface KeepOptions {
  maxTokens: number
  /** Number of messages already dropped. */
  removed: number
  /** Creates the message that replaces the dropped messages. */
  marker(removed: number): AgentMessage
  counter: TokenCounter
}

/**
 * Returns the newest groups that fit, in order, after a marker for dropped messages. Groups stay whole. Counting from the end, the first
 * group that does not fit and all older groups are dropped. Returns all groups without a marker if nothing is dropped, and an empty list if
 * not even the marker fits.
 */
export function keepNewest(groups: readonly (readonly AgentMessage[])[], options: KeepOptions): AgentMessage[] {
  const { maxTokens, removed, marker, counter } = options
  const all = groups.flat()
  if (removed === 0 && totalTokens(all, counter) <= maxTokens) return all
  // Measure the marker at its maximum length, because its count is not known yet.
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

import type { TokenCounter } from '../../types/compaction.ts'
import type { AgentMessage } from '../../types/message.ts'
import { messageTokens, totalTokens } from '../tokens.ts'

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
 *
 * Source: spec/27 "keep_within_budget".
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

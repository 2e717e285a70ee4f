import type { CompactionOverlay, TurnSpan } from '../../types/compaction.ts'
import type { AgentMessage } from '../../types/message.ts'

/** The messages an overlay stands for, section by section, before anything is hidden. Without an overlay everything is `rest`. */
export interface ExpandedOverlay {
  first: readonly AgentMessage[]
  compacted: readonly AgentMessage[]
  recent: readonly AgentMessage[]
  /** What came after the overlay was made. */
  rest: readonly AgentMessage[]
}

/**
 * Puts an overlay over a history. Of the history only the `keepFirst` messages and those after the overlay are read: what lies between may
 * be gone from memory.
 */
export function expandOverlay(messages: readonly AgentMessage[], overlay: CompactionOverlay | undefined): ExpandedOverlay {
  if (overlay === undefined) return { first: [], compacted: [], recent: [], rest: messages }
  const { keepFirst, keepCompacted, keepRecent } = overlay
  const first = keepFirst === undefined ? [] : (between(messages, keepFirst) ?? [])
  const { lastId } = keepRecent?.range ?? keepCompacted.range
  let end = messages.findLastIndex((message) => message.id === lastId)
  if (end === -1) end = messages.findLastIndex((message) => message.id === keepFirst?.lastId)
  return { first, compacted: keepCompacted.messages, recent: keepRecent?.messages ?? [], rest: messages.slice(end + 1) }
}

/** The messages of a span, or `undefined` when they are not all in `messages`. */
export function between(messages: readonly AgentMessage[], { firstId, lastId }: TurnSpan): readonly AgentMessage[] | undefined {
  const from = messages.findIndex((message) => message.id === firstId)
  const to = messages.findLastIndex((message) => message.id === lastId)
  return from === -1 || to < from ? undefined : messages.slice(from, to + 1)
}

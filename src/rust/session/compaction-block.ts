import type { CompactedSection, CompactionOverlay, TurnSpan } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { LoopRecord } from '../../contract/session/session.ts'
import type { BlockSection, CompactionBlock, TurnRange } from '../tables/session.ts'

/** Returns the id of an overlay that was created from a block. */
export function blockOverlayId(loopId: string): string {
  return `${loopId}#block`
}

/**
 * Returns the overlay equal to a block, or `undefined` if there is none. An overlay covers a history from its beginning, so the loop must be
 * the first. Its sections must be contiguous, which Rust does not always ensure.
 */
export function overlayOfBlock(
  block: CompactionBlock,
  loop: Pick<LoopRecord, 'loopId' | 'parentLoopId' | 'messages'>,
): CompactionOverlay | undefined {
  const { keepFirst, keepCompacted, keepRecent, createdAt } = block
  if (loop.parentLoopId !== undefined || keepCompacted === undefined) return undefined
  const parts = [keepFirst, keepCompacted.range, keepRecent?.range].filter((part) => part !== undefined)
  const follows = parts.every((part, at) => part.startTurn <= part.endTurn && part.startTurn === (parts[at - 1]?.endTurn ?? -1) + 1)
  const turns = turnsOf(loop.messages)
  if (!follows || turns.length <= (parts.at(-1)?.endTurn ?? 0)) return undefined
  const spanOf = ({ startTurn, endTurn }: TurnRange): TurnSpan => ({
    firstId: turns[startTurn]?.[0]?.id ?? '',
    lastId: turns[endTurn]?.at(-1)?.id ?? '',
    turns: endTurn - startTurn + 1,
  })
  const sectionOf = (part: BlockSection): CompactedSection => ({ range: spanOf(part.range), messages: part.messages })
  return {
    id: blockOverlayId(loop.loopId),
    createdAt,
    loopId: loop.loopId,
    ...(keepFirst && { keepFirst: spanOf(keepFirst) }),
    keepCompacted: sectionOf(keepCompacted),
    ...(keepRecent && { keepRecent: sectionOf(keepRecent) }),
  }
}

/** Returns the block equal to an overlay, or `undefined` if the overlay covers more than the loop. */
export function blockOfOverlay(
  overlay: CompactionOverlay,
  loop: Pick<LoopRecord, 'parentLoopId' | 'messages'>,
): CompactionBlock | undefined {
  const { keepFirst, keepCompacted, keepRecent, createdAt } = overlay
  const turns = turnsOf(loop.messages)
  const spans = [keepFirst, keepCompacted.range, keepRecent?.range].filter((span) => span !== undefined)
  const rangeOf = ({ firstId, lastId }: TurnSpan): TurnRange => ({
    startTurn: turns.findIndex((turn) => turn[0]?.id === firstId),
    endTurn: turns.findIndex((turn) => turn.at(-1)?.id === lastId),
  })
  const ranges = spans.map(rangeOf)
  const follows = ranges.every((part, at) => part.endTurn >= 0 && part.startTurn === (ranges[at - 1]?.endTurn ?? -1) + 1)
  if (!follows || loop.parentLoopId !== undefined) return undefined
  const sectionOf = (part: CompactedSection): BlockSection => ({ range: rangeOf(part.range), messages: part.messages })
  return {
    createdAt,
    ...(keepFirst && { keepFirst: rangeOf(keepFirst) }),
    keepCompacted: sectionOf(keepCompacted),
    ...(keepRecent && { keepRecent: sectionOf(keepRecent) }),
  }
}

/** Groups consecutive messages by turn. */
function turnsOf(messages: readonly AgentMessage[]): AgentMessage[][] {
  const turns: AgentMessage[][] = []
  let last: number | undefined
  for (const message of messages) {
    const index = message.role === 'extension' ? undefined : message.turnId?.turnIndex
    if (index !== undefined && index === last) turns.at(-1)?.push(message)
    else turns.push([message])
    last = index
  }
  return turns
}

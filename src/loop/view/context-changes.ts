import { planPrune } from '../../context/prune-revert/prune.ts'
import { planRevert } from '../../context/prune-revert/revert.ts'
import type { ContextChange } from '../../contract/context/context-change.ts'
import type { LoopState } from '../loop-state.ts'
import type { RequestView } from './request-view.ts'

type Prune = Extract<ContextChange, { type: 'prune' }>
type Revert = Extract<ContextChange, { type: 'revert' }>

/**
 * Applies the context changes that the tools of this turn requested: prunes, then reverts, each in order. The history stays unchanged.
 * Rejects with `JournalError`.
 *
 * Source: docs/concepts/context.md
 */
export async function applyContextChanges(loop: LoopState, view: RequestView, changes: readonly ContextChange[]): Promise<void> {
  for (const change of changes) if (change.type === 'prune') await applyPrune(loop, view, change)
  for (const change of changes) if (change.type === 'revert') await applyRevert(loop, view, change)
}

async function applyPrune(loop: LoopState, view: RequestView, { tokens, memo }: Prune): Promise<void> {
  const { context, events } = loop
  const { state = {} } = context
  const currentTurn = { loopId: events.loopId, turnIndex: loop.turnIndex }
  const record = planPrune({
    view: view.sent(),
    tokens,
    currentTurn,
    state,
    counter: loop.contextWindow.counter,
    ...(memo !== undefined && { memo }),
  })
  if (record === undefined) {
    loop.log.warn('nothingToPrune', { tokens })
    return
  }
  await loop.record({ type: 'prune', record })
  view.change({ prunes: [...(state.prunes ?? []), record] })
  const { tokensRemoved, messageIds } = record
  const memoField = record.memo === undefined ? {} : { memo: record.memo }
  events.emit({ type: 'prunApplied', tokensRemoved, messagesRemoved: messageIds.length, prunedMessageIds: messageIds, ...memoField })
}

async function applyRevert(loop: LoopState, view: RequestView, change: Revert): Promise<void> {
  const { context, events } = loop
  const { messages, state = {} } = context
  const { category, targetNodeId: target, summary } = change
  const about = { type: 'revertApplied' as const, category, target, ...(summary !== undefined && { summary }) }
  const planned = planRevert({ messages, state, change, turnIndex: view.turnNumber() })
  if ('refused' in planned) {
    events.emit({ ...about, abandonedNodeIds: [], applied: false, reason: planned.refused })
    return
  }
  const { record } = planned
  await loop.record({ type: 'revert', record })
  view.change({ reverts: [...(state.reverts ?? []), record] })
  view.goBackTo(record.targetNodeId)
  events.emit({ ...about, abandonedNodeIds: record.abandonedNodeIds, applied: true })
}

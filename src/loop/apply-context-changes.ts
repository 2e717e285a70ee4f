import { planPrune } from '../context/prune-revert/prune.ts'
import { planRevert } from '../context/prune-revert/revert.ts'
import type { ContextChange } from '../types/context-change.ts'
import type { LoopRun } from './loop-run.ts'

type Prune = Extract<ContextChange, { type: 'prune' }>
type Revert = Extract<ContextChange, { type: 'revert' }>

/**
 * Applies what the tools of this turn asked for, prunes before reverts, each in the order asked. The history stays; what is sent changes.
 * Rejects with `JournalError`.
 *
 * Source: spec/17, reference/phi-core-0.10.md §1 "Composition I".
 */
export async function applyContextChanges(run: LoopRun): Promise<void> {
  const changes = run.contextChanges.splice(0)
  for (const change of changes) if (change.type === 'prune') await applyPrune(run, change)
  for (const change of changes) if (change.type === 'revert') await applyRevert(run, change)
}

async function applyPrune(run: LoopRun, { tokens, memo }: Prune): Promise<void> {
  const { context, events } = run
  const contextWindow = await run.contextWindow()
  const { state = {} } = context
  const view = contextWindow.sent()
  const currentTurn = { loopId: events.loopId, turnIndex: run.turnIndex }
  const counter = contextWindow.counter
  const record = planPrune({ view, tokens, currentTurn, state, counter, ...(memo !== undefined && { memo }) })
  if (record === undefined) {
    run.warn('nothingToPrune', { tokens })
    return
  }
  await run.record({ type: 'prune', record })
  contextWindow.change({ prunes: [...(state.prunes ?? []), record] })
  const { tokensRemoved, messageIds } = record
  const said = record.memo === undefined ? {} : { memo: record.memo }
  events.emit({ type: 'prunApplied', tokensRemoved, messagesRemoved: messageIds.length, prunedMessageIds: messageIds, ...said })
}

async function applyRevert(run: LoopRun, change: Revert): Promise<void> {
  const { context, events } = run
  const contextWindow = await run.contextWindow()
  const { messages, state = {} } = context
  const { category, targetNodeId: target, summary } = change
  const about = { type: 'revertApplied' as const, category, target, ...(summary !== undefined && { summary }) }
  const planned = planRevert({ messages, state, change, turnIndex: contextWindow.turnNumber() })
  if ('refused' in planned) {
    events.emit({ ...about, abandonedNodeIds: [], applied: false, reason: planned.refused })
    return
  }
  const { record } = planned
  await run.record({ type: 'revert', record })
  contextWindow.change({ reverts: [...(state.reverts ?? []), record] })
  run.nodeIds?.goBackTo(record.targetNodeId)
  events.emit({ ...about, abandonedNodeIds: record.abandonedNodeIds, applied: true })
}

import type { CompactionEndedEvent, CompactionStartedEvent, PrunAppliedEvent, RevertAppliedEvent } from '../contract/run/event.ts'
import type { EventBase } from '../contract/run/run-facts.ts'
import type { CompactionNote, NoteView, RunState } from './state.ts'

/** Starts a compaction note. */
export function compactionStarted(state: RunState, event: CompactionStartedEvent): RunState {
  const { messageCount: messagesBefore, estimatedTokens: tokensBefore } = event
  return withNote(state, { ...placeOf(state, event), type: 'compaction', status: 'running', messagesBefore, tokensBefore })
}

/** Completes a compaction note, or adds it if its start was missed. */
export function compactionEnded(state: RunState, event: CompactionEndedEvent): RunState {
  const { messagesBefore, messagesAfter, estimatedTokensBefore, estimatedTokensAfter, loopsCompacted, error } = event
  const isSame = messagesAfter === messagesBefore && estimatedTokensAfter === estimatedTokensBefore
  const index = state.notes.findLastIndex((note) => note.type === 'compaction' && note.status === 'running')
  const { id, at, afterMessageId } = state.notes[index] ?? placeOf(state, event)
  const note: CompactionNote = {
    id,
    at,
    ...(afterMessageId !== undefined && { afterMessageId }),
    type: 'compaction',
    status: error !== undefined || isSame ? 'failed' : 'done',
    messagesBefore,
    tokensBefore: estimatedTokensBefore,
    messagesAfter,
    tokensAfter: estimatedTokensAfter,
    loopsCompacted,
    ...(error !== undefined && { error }),
  }
  return index < 0 ? withNote(state, note) : { ...state, notes: state.notes.with(index, note) }
}

/** Records a prune. */
export function pruned(state: RunState, event: PrunAppliedEvent): RunState {
  const { tokensRemoved, messagesRemoved, prunedMessageIds: messageIds, memo } = event
  const figures = { tokensRemoved, messagesRemoved, messageIds, ...(memo !== undefined && { memo }) }
  return withNote(state, { ...placeOf(state, event), type: 'prune', ...figures })
}

/** Records a revert. */
export function reverted(state: RunState, event: RevertAppliedEvent): RunState {
  const { category, target, abandonedNodeIds, summary, applied, reason } = event
  const details = { ...(summary !== undefined && { summary }), ...(reason !== undefined && { reason }) }
  return withNote(state, { ...placeOf(state, event), type: 'revert', category, target, abandonedNodeIds, applied, ...details })
}

function placeOf(state: RunState, { runId, seq, at }: EventBase): Pick<NoteView, 'id' | 'at' | 'afterMessageId'> {
  const newest = state.live ?? state.messages.at(-1)
  return { id: `${runId}:${seq}`, at, ...(newest !== undefined && { afterMessageId: newest.id }) }
}

function withNote(state: RunState, note: NoteView): RunState {
  return { ...state, notes: [...state.notes, note] }
}

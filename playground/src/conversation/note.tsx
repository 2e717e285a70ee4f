import { escapeControls } from '../../../src/index.ts'
import type { CompactionNote, NoteView, PruneNote, RevertNote } from '../../../src/store/index.ts'

/** What happened between two messages to that which the model is sent. The conversation on screen stays whole. */
export function Note({ note }: { note: NoteView }) {
  const detail = detailOf(note)
  return (
    <p class="note" data-testid="note" data-type={note.type} data-status={statusOf(note)}>
      {textOf(note)}
      {detail !== undefined && <span class="note-detail">{escapeControls(detail)}</span>}
    </p>
  )
}

function statusOf(note: NoteView): string {
  if (note.type === 'compaction') return note.status
  return note.type === 'revert' && !note.applied ? 'failed' : 'done'
}

function textOf(note: NoteView): string {
  if (note.type === 'compaction') return compaction(note)
  return note.type === 'prune' ? pruned(note) : reverted(note)
}

function detailOf(note: NoteView): string | undefined {
  if (note.type === 'compaction') return note.error?.message
  return note.type === 'prune' ? note.memo : (note.reason ?? note.summary)
}

function compaction({ status, messagesBefore, messagesAfter = 0, tokensBefore, tokensAfter = 0 }: CompactionNote): string {
  if (status === 'running') return `Making room: ${messagesBefore} messages, about ${figure(tokensBefore)} tokens…`
  if (status === 'failed') return 'No room could be made.'
  const messages = `${messagesBefore} → ${messagesAfter} messages`
  return `Older turns are now sent in short: ${messages}, about ${figure(tokensBefore)} → ${figure(tokensAfter)} tokens.`
}

function pruned({ messagesRemoved, tokensRemoved }: PruneNote): string {
  const messages = messagesRemoved === 1 ? '1 message' : `${messagesRemoved} messages`
  return `The model put ${messages} out of its sight, about ${figure(tokensRemoved)} tokens.`
}

function reverted({ applied, target, abandonedNodeIds }: RevertNote): string {
  if (!applied) return `The model asked to go back to n${target} and was refused.`
  return `The model went back to n${target} and left ${abandonedNodeIds.length} of its steps behind.`
}

function figure(tokens: number): string {
  return tokens.toLocaleString('en')
}

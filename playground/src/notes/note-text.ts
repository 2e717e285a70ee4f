import { textOf } from '../../../src/index.ts'
import type { CompactionNote, MessageView, NoteView, PruneNote, RevertNote } from '../../../src/store/index.ts'
import { count } from '../parts/figures.ts'
import type { CapturedTurn } from '../state/event-log.ts'

export function statusOf(note: NoteView): string {
  if (note.type === 'compaction') return note.status
  return note.type === 'revert' && !note.applied ? 'failed' : 'done'
}

export function textOfNote(note: NoteView): string {
  if (note.type === 'compaction') return compaction(note)
  return note.type === 'prune' ? pruned(note) : reverted(note)
}

export function detailOf(note: NoteView): string | undefined {
  if (note.type === 'compaction') return note.error?.message
  return note.type === 'prune' ? note.memo : (note.reason ?? note.summary)
}

/** Which messages a note has taken out of sight, and what the model is shown in their place. */
export function hiddenBy(
  note: NoteView,
  messages: readonly MessageView[],
  requests: readonly CapturedTurn[],
): { gone: readonly MessageView[]; instead: string } {
  if (note.type === 'prune') {
    const ids = new Set(note.messageIds)
    return { gone: messages.filter(({ id }) => ids.has(id)), instead: note.memo ?? '' }
  }
  if (note.type === 'revert') {
    const nodes = new Set(note.abandonedNodeIds)
    return {
      gone: messages.filter(({ message }) => message !== undefined && 'nodeId' in message && nodes.has(message.nodeId ?? -1)),
      instead: note.summary ?? '',
    }
  }
  return hiddenByCompaction(note, messages, requests)
}

/** What is still sent can be told by the first request after it: its messages are the same, those of the history that are not among them are gone. */
function hiddenByCompaction(note: CompactionNote, messages: readonly MessageView[], requests: readonly CapturedTurn[]) {
  const after = requests.findLast(({ request }) => request.messages.length <= (note.messagesAfter ?? 0) + 4)
  if (after === undefined) return { gone: [], instead: '' }
  const sent = new Set(after.request.messages.map(({ content }) => textOf(content)))
  const until = messages.findIndex(({ id }) => id === note.afterMessageId)
  const before = messages.slice(0, until + 1)
  const gone = before.filter(({ message }) => message !== undefined && message.role !== 'extension' && !sent.has(textOf(message.content)))
  const said = new Set(
    before.flatMap(({ message }) => (message === undefined || message.role === 'extension' ? [] : [textOf(message.content)])),
  )
  const { messages: shown, provenance } = after.request
  const made = shown.filter((message, at) => provenance[at]?.kind === 'unknown' && !said.has(textOf(message.content)))
  return { gone, instead: made.map(({ content }) => textOf(content)).join('\n\n') }
}

function compaction({ status, messagesBefore, messagesAfter = 0, tokensBefore, tokensAfter = 0 }: CompactionNote): string {
  if (status === 'running') return `Making room: ${messagesBefore} messages, about ${count(tokensBefore)} tokens…`
  if (status === 'failed') return 'No room could be made.'
  return `Compacted: ${messagesBefore} → ${messagesAfter} messages, about ${count(tokensBefore)} → ${count(tokensAfter)} tokens`
}

function pruned({ messagesRemoved, tokensRemoved }: PruneNote): string {
  const messages = messagesRemoved === 1 ? '1 message' : `${messagesRemoved} messages`
  return `The model put ${messages} out of its sight, about ${count(tokensRemoved)} tokens`
}

function reverted({ applied, target, abandonedNodeIds }: RevertNote): string {
  if (!applied) return `The model asked to go back to n${target} and was refused`
  return `The model went back to n${target} and left ${abandonedNodeIds.length} of its steps behind`
}

import { type Message, textOf } from '../../../src/index.ts'
import type { CompactionNote, MessageView, NoteView, PruneNote, RevertNote } from '../../../src/store.ts'
import { count } from '../parts/figures.ts'
import type { CapturedTurn } from '../state/log/event-log.ts'

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

/** Returns the messages that a note has hidden from the model, and the text that replaces them. */
export function hiddenBy(
  note: NoteView,
  messages: readonly MessageView[],
  requests: readonly CapturedTurn[],
): { hidden: readonly MessageView[]; instead: string } {
  if (note.type === 'prune') {
    const ids = new Set(note.messageIds)
    return { hidden: messages.filter(({ id }) => ids.has(id)), instead: note.memo ?? '' }
  }
  if (note.type === 'revert') {
    const nodes = new Set(note.abandonedNodeIds)
    return {
      hidden: messages.filter(({ message }) => message !== undefined && 'nodeId' in message && nodes.has(message.nodeId ?? -1)),
      instead: note.summary ?? '',
    }
  }
  return hiddenByCompaction(note, messages, requests)
}

/**
 * Compares the first request after the compaction with the history. Messages missing from the request are hidden, and texts only in the
 * request replace them.
 */
function hiddenByCompaction(note: CompactionNote, messages: readonly MessageView[], requests: readonly CapturedTurn[]) {
  const until = messages.findIndex(({ id }) => id === note.afterMessageId)
  const before = messages.slice(0, until + 1)
  const after = requestAfter(messages[until], requests)
  if (after === undefined) return { hidden: [], instead: '' }
  const sent = new Set(after.request.messages.map(wordsOf))
  const texts = new Set(
    messages.flatMap(({ message }) => (message === undefined || message.role === 'extension' ? [] : [wordsOf(message)])),
  )
  const hidden = before.filter(({ message }) => message !== undefined && message.role !== 'extension' && !sent.has(wordsOf(message)))
  const made = after.request.messages.map(wordsOf).filter((words) => words !== '' && !texts.has(words))
  return { hidden, instead: made.join('\n\n') }
}

/** Returns the first request in the conversation that a message could be part of. */
function requestAfter(view: MessageView | undefined, requests: readonly CapturedTurn[]): CapturedTurn | undefined {
  const message = view?.message
  if (message === undefined || message.role === 'extension' || message.turnId === undefined) return undefined
  const { loopId, turnIndex } = message.turnId
  // A user message precedes its turn's request, and a result follows it.
  const first = message.role === 'user' ? turnIndex : turnIndex + 1
  const before = requests.findLastIndex((turn) => turn.loopId === loopId && turn.turnIndex < first)
  return requests.slice(before + 1).find((turn) => !turn.loopId.includes('.sub.'))
}

/** Returns a message's text, without its node number. */
function wordsOf({ content }: Message): string {
  return textOf(content)
    .replace(/^<<\w{8} \[n\d+\] \w{8}>>\s*/, '')
    .trim()
}

function compaction({ status, messagesBefore, messagesAfter = 0, tokensBefore, tokensAfter = 0 }: CompactionNote): string {
  if (status === 'running') return `Compacting: ${messagesBefore} messages, about ${count(tokensBefore)} tokens…`
  if (status === 'failed') return 'Compaction failed.'
  return `Compacted: ${messagesBefore} → ${messagesAfter} messages, about ${count(tokensBefore)} → ${count(tokensAfter)} tokens`
}

function pruned({ messagesRemoved, tokensRemoved }: PruneNote): string {
  const messages = messagesRemoved === 1 ? '1 message' : `${messagesRemoved} messages`
  return `The model removed ${messages} from its context, about ${count(tokensRemoved)} tokens`
}

function reverted({ applied, target, abandonedNodeIds }: RevertNote): string {
  if (!applied) return `The model requested a revert to n${target}, which was refused`
  return `The model reverted to n${target} and dropped ${abandonedNodeIds.length} of its steps`
}

import { useSignal } from '@preact/signals'
import { textOf } from '../../../src/index.ts'
import { escapeControls, type MessageView, type NoteView } from '../../../src/store.ts'
import { scrollable } from '../parts/scrollable.ts'
import type { CapturedTurn } from '../state/log/event-log.ts'
import { speakerOf } from '../state/log/run-words.ts'
import { detailOf, hiddenBy, statusOf, textOfNote } from './note-text.ts'

interface NoteProps {
  note: NoteView
  messages: readonly MessageView[]
  requests: readonly CapturedTurn[]
}

/** A context change between two messages. The displayed conversation stays complete. Opening the note shows what is no longer sent. */
export function Note({ note, messages, requests }: NoteProps) {
  const isOpen = useSignal(false)
  const detail = detailOf(note)
  const canOpen = statusOf(note) === 'done'
  return (
    <div class="note" data-testid="note" data-type={note.type} data-status={statusOf(note)}>
      <p class="note-line">
        <span>{textOfNote(note)}</span>
        {canOpen && (
          <button type="button" class="link" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
            {isOpen.value ? 'hide' : 'show'}
          </button>
        )}
      </p>
      {detail !== undefined && <p class="note-detail">{escapeControls(detail)}</p>}
      {isOpen.value && <Hidden note={note} messages={messages} requests={requests} />}
    </div>
  )
}

/** Messages that are no longer sent, and their replacement. */
function Hidden({ note, messages, requests }: NoteProps) {
  const { hidden: hiddenMessages, instead } = hiddenBy(note, messages, requests)
  return (
    <div class="note-hidden" data-testid="note-hidden">
      {instead !== '' && (
        <>
          <p class="tool-label">Sent instead</p>
          <pre {...scrollable}>{escapeControls(instead)}</pre>
        </>
      )}
      <p class="tool-label">No longer sent</p>
      {hiddenMessages.length === 0 && <p>Nothing on this page.</p>}
      <ul {...scrollable}>
        {hiddenMessages.map(({ id, role, message }) => (
          <li key={id}>
            <span class="note-role">{message === undefined || message.role === 'extension' ? role : speakerOf(message)}</span>{' '}
            {message !== undefined && message.role !== 'extension' && excerpt(textOf(message.content))}
          </li>
        ))}
      </ul>
    </div>
  )
}

function excerpt(text: string): string {
  const line = escapeControls(text).replace(/\s+/g, ' ')
  return line === '' ? '(a call)' : line.length > 160 ? `${line.slice(0, 160)}…` : line
}

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Desk } from '../desk.ts'
import type { StoredSession } from './stored-sessions.ts'

/** The conversations of this browser, newest first: open one, delete one, begin one. */
export function SessionList({ desk, onPick }: { desk: Desk; onPick: () => void }) {
  const { sessionId } = desk.current.value.agent
  const stored = desk.stored.value
  const begin = useRef<HTMLButtonElement>(null)
  return (
    <nav class="sessions" aria-label="Conversations">
      <header>
        <h2>Conversations</h2>
        <button
          type="button"
          ref={begin}
          onClick={() => {
            desk.create()
            onPick()
          }}
        >
          New
        </button>
      </header>
      <ul>
        {stored.length === 0 && <li class="nothing">Nothing is stored yet.</li>}
        {stored.map((session) => (
          <Row
            key={session.sessionId}
            session={session}
            isCurrent={session.sessionId === sessionId}
            onOpen={() => {
              void desk.open(session.sessionId)
              onPick()
            }}
            onDelete={() => {
              void desk.remove(session.sessionId)
              begin.current?.focus()
            }}
          />
        ))}
      </ul>
      <p class="kept">Kept in this browser only.</p>
    </nav>
  )
}

interface RowProps {
  session: StoredSession
  isCurrent: boolean
  onOpen: () => void
  onDelete: () => void
}

function Row({ session, isCurrent, onOpen, onDelete }: RowProps) {
  // The button that is pressed goes away: the one that takes its place gets the focus.
  const question = useSignal<'unasked' | 'asked' | 'declined'>('unasked')
  const { startedAt, isOpen } = session
  const title = session.title || 'Conversation'
  return (
    <li data-testid="stored-session">
      <button type="button" class="quiet pick" aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span class="title">{title}</span>
        <span class="when">
          <time dateTime={new Date(startedAt).toISOString()}>{when.format(startedAt)}</time>
          {isOpen && !isCurrent && <span class="badge">in another tab</span>}
        </span>
      </button>
      {question.value === 'asked' ? (
        <fieldset class="sure">
          <legend class="visually-hidden">Delete “{title}”?</legend>
          <button type="button" ref={focus} onClick={onDelete}>
            Delete
          </button>
          <button type="button" onClick={() => (question.value = 'declined')}>
            Keep
          </button>
        </fieldset>
      ) : (
        <button
          type="button"
          class="quiet remove"
          aria-label={`Delete “${title}”`}
          ref={question.value === 'declined' ? focus : null}
          onClick={() => (question.value = 'asked')}
        >
          <span aria-hidden="true">✕</span>
        </button>
      )}
    </li>
  )
}

const when = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hour12: false })

function focus(button: HTMLButtonElement | null): void {
  button?.focus()
}

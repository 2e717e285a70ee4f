import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { dateOf, plural } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { StoredSession } from '../state/chat-port.ts'

interface SessionRowProps {
  session: StoredSession
  isCurrent: boolean
  /** Where a search found its words. */
  excerpt: string | undefined
  onOpen: () => void
  onDelete: () => void
  /** The loops of the conversation that is shown. */
  children?: ComponentChildren
}

/** One stored conversation: opens it, deletes it after a second question. */
export function SessionRow({ session, isCurrent, excerpt, onOpen, onDelete, children }: SessionRowProps) {
  // The button that is pressed goes away: the one that takes its place gets the focus.
  const question = useSignal<'unasked' | 'asked' | 'declined'>('unasked')
  const { startedAt, isOpen, loops } = session
  const title = session.title || 'Conversation'
  return (
    <li data-testid="stored-session" class="session-row">
      <button type="button" class="quiet pick" aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span class="title">{title}</span>
        <span class="when">
          <time dateTime={new Date(startedAt).toISOString()}>{dateOf(startedAt)}</time>
          <span>{plural(loops, 'loop')}</span>
          {isOpen && !isCurrent && <span class="badge">in another tab</span>}
        </span>
        {excerpt !== undefined && <span class="excerpt">{excerpt}</span>}
      </button>
      {question.value === 'asked' ? (
        <fieldset class="sure">
          <legend class="visually-hidden">Delete “{title}”?</legend>
          <button type="button" class="small danger" ref={focus} onClick={onDelete}>
            Delete
          </button>
          <button type="button" class="small" onClick={() => (question.value = 'declined')}>
            Keep
          </button>
        </fieldset>
      ) : (
        <span class="remove">
          <IconButton
            icon="trash"
            label={`Delete “${title}”`}
            buttonRef={question.value === 'declined' ? focus : null}
            onClick={() => (question.value = 'asked')}
          />
        </span>
      )}
      {children}
    </li>
  )
}

function focus(button: HTMLButtonElement | null): void {
  button?.focus()
}

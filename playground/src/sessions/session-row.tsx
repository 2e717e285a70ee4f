import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { dateOf, plural } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { Activity } from '../state/app/open-conversations.ts'
import type { StoredSession } from '../state/backend/chat-port.ts'
import { RenameSession } from './rename-session.tsx'

interface SessionRowProps {
  session: StoredSession
  isCurrent: boolean
  /** The conversation's status in this tab. */
  activity: Activity | undefined
  /** Whether it has unsent input. */
  draft: 'beside' | 'alone' | undefined
  /** The search match. */
  excerpt: string | undefined
  /** Absent while nothing is being selected. */
  chosen: { is: boolean; onChange: (is: boolean) => void } | undefined
  onOpen: () => void
  /** Absent if renaming is unavailable. */
  onRename: ((title: string) => void) | undefined
  onDelete: () => void
  /** The current conversation's loops. */
  children?: ComponentChildren
}

/** One stored conversation, which can be opened, renamed, or deleted after confirmation. */
export function SessionRow({
  session,
  isCurrent,
  activity,
  draft,
  excerpt,
  chosen,
  onOpen,
  onRename,
  onDelete,
  children,
}: SessionRowProps) {
  // A pressed button disappears, so the focus moves to its replacement.
  const asks = useSignal<'nothing' | 'delete' | 'name' | 'declined'>('nothing')
  const { startedAt, isOpen, loops, status } = session
  const title = session.title || 'Conversation'
  const isElsewhere = isOpen && !isCurrent && activity === undefined
  return (
    <li data-testid={draft === 'alone' ? 'draft' : 'stored-session'} class="session-row" data-activity={activity?.kind}>
      {chosen !== undefined && (
        <input
          type="checkbox"
          class="choose"
          aria-label={`Choose “${title}”`}
          checked={chosen.is}
          onChange={({ currentTarget }) => chosen.onChange(currentTarget.checked)}
        />
      )}
      <button type="button" class="quiet pick" aria-current={isCurrent ? 'page' : undefined} onClick={onOpen}>
        <span class="title">{title}</span>
        <span class="when">
          {startedAt > 0 && <time dateTime={new Date(startedAt).toISOString()}>{dateOf(startedAt)}</time>}
          {draft !== 'alone' && <span>{plural(loops, 'run')}</span>}
          {draft !== undefined && <span class="badge">not sent</span>}
          {activity !== undefined && (
            <span class="badge activity" data-activity={activity.kind}>
              {activity.word.toLowerCase()}
            </span>
          )}
          {isElsewhere && <span class="badge">{status === 'running' ? 'running in another tab' : 'in another tab'}</span>}
        </span>
        {excerpt !== undefined && <span class="excerpt">{excerpt}</span>}
      </button>
      {asks.value === 'name' && onRename && (
        <RenameSession
          title={session.title}
          onRename={(name) => {
            asks.value = 'declined'
            onRename(name)
          }}
          onCancel={() => (asks.value = 'declined')}
        />
      )}
      {asks.value === 'delete' ? (
        <fieldset class="sure">
          <legend class="visually-hidden">Delete “{title}”?</legend>
          <button type="button" class="small danger" ref={focus} onClick={onDelete}>
            Delete
          </button>
          <button type="button" class="small" onClick={() => (asks.value = 'declined')}>
            Keep
          </button>
        </fieldset>
      ) : (
        <span class="row-actions">
          {onRename && (
            <IconButton
              icon="edit"
              label={`Rename “${title}”`}
              isPressed={asks.value === 'name'}
              onClick={() => (asks.value = asks.value === 'name' ? 'nothing' : 'name')}
            />
          )}
          <IconButton
            icon="trash"
            label={`Delete “${title}”`}
            buttonRef={asks.value === 'declined' ? focus : null}
            onClick={() => (asks.value = 'delete')}
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

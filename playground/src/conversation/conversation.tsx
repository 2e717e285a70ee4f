import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { escapeControls } from '../../../src/index.ts'
import type { NoteView, RunState } from '../../../src/store/index.ts'
import { Message } from './message.tsx'
import { Note } from './note.tsx'
import type { Decisions } from './tool-card.tsx'
import { Welcome } from './welcome.tsx'

interface ConversationProps {
  state: RunState
  /** Absent where nothing can be decided. */
  decisions: Decisions | undefined
  /** Absent where nothing can be said. */
  onGoOn: (() => void) | undefined
}

/** The transcript. It follows the newest line until the reader scrolls up. */
export function Conversation({ state, decisions, onGoOn }: ConversationProps) {
  const { messages, live, tools, approvals, notes } = state
  const box = useRef<HTMLElement>(null)
  const isFollowing = useSignal(true)

  // Finished messages are rendered again only when one is added or a tool moves; a delta touches the live one alone.
  const finished = useMemo(
    () =>
      messages.flatMap((view) => [
        <Message key={view.id} view={view} tools={tools} approvals={approvals} decisions={decisions} />,
        ...notesAfter(notes, view.id),
      ]),
    [messages, tools, approvals, notes, decisions],
  )

  useLayoutEffect(() => {
    if (isFollowing.value && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  })

  const onScroll = () => {
    if (box.current !== null) isFollowing.value = isAtBottom(box.current)
  }

  return (
    <div class="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section class="transcript" role="log" aria-live="off" aria-label="Conversation" tabIndex={0} ref={box} onScroll={onScroll}>
        {messages.length === 0 && live === undefined && <Welcome />}
        {[
          ...notesAfter(notes, undefined),
          ...finished,
          live && <Message key={live.id} view={live} tools={tools} approvals={approvals} decisions={decisions} />,
          ...(live === undefined ? [] : notesAfter(notes, live.id)),
        ]}
        <Failure state={state} />
        {isBrokenOff(state) && (
          <div class="notice broken-off" data-testid="broken-off">
            <p>The page ended before the answer did. Everything up to here was kept.</p>
            {onGoOn !== undefined && (
              <button type="button" onClick={onGoOn}>
                Go on
              </button>
            )}
          </div>
        )}
      </section>
      {!isFollowing.value && (
        <button type="button" class="jump" onClick={() => (isFollowing.value = true)}>
          ↓ Newest
        </button>
      )}
    </div>
  )
}

function notesAfter(notes: readonly NoteView[], messageId: string | undefined) {
  return notes.filter((note) => note.afterMessageId === messageId).map((note) => <Note key={note.id} note={note} />)
}

function Failure({ state }: { state: RunState }) {
  if (state.status === 'running') return null
  if (state.failure !== undefined) {
    return (
      <p class="failure" role="alert">
        <strong>{state.failure.code}</strong> {escapeControls(state.failure.message)}
      </p>
    )
  }
  if (state.status === 'rejected') {
    return (
      <p class="failure" role="alert" data-testid="rejection">
        <strong>Rejected</strong> {escapeControls(state.rejection ?? '')}
      </p>
    )
  }
  return state.status === 'aborted' ? <p class="notice">Stopped. Nothing is lost: go on with a new message.</p> : null
}

/** A stored conversation whose last message still waits for an answer. */
function isBrokenOff({ runId, messages }: RunState): boolean {
  const role = messages.at(-1)?.role
  return runId === undefined && (role === 'user' || role === 'toolResult')
}

function isAtBottom(element: HTMLElement): boolean {
  return element.scrollHeight - element.scrollTop - element.clientHeight < 24
}

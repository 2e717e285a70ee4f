import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Splitter } from '../layout/splitter.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Desk } from '../state/desk.ts'
import { showPane } from '../state/layout.ts'
import { LoopTree } from '../tree/loop-tree.tsx'
import { type Found, searchSessions } from './search-sessions.ts'
import { SessionRow } from './session-row.tsx'
import { TransferButtons } from './transfer-buttons.tsx'

/** The conversations of this browser, newest first: search, open, delete, begin, import and export; the tree of the one that is shown. */
export function SessionsPane({ desk }: { desk: Desk }) {
  const conversation = desk.current.value
  const begin = useRef<HTMLButtonElement>(null)
  const query = useSignal('')
  const found = useSignal<Found | undefined>(undefined)
  const shown = desk.stored.value.filter(({ sessionId }) => found.value === undefined || found.value.has(sessionId))

  async function search(text: string): Promise<void> {
    query.value = text
    const result = text.trim() === '' ? undefined : await searchSessions(desk.backend, desk.stored.value, text)
    // Somebody may have typed on meanwhile.
    if (query.value === text) found.value = result
  }

  return (
    <nav class="sessions" aria-label="Conversations">
      <header>
        <h2>Conversations</h2>
        <button
          type="button"
          class="small"
          ref={begin}
          onClick={() => {
            desk.create()
            showPane('conversation')
          }}
        >
          <Icon name="plus" />
          New
        </button>
      </header>
      <label class="search-field">
        <Icon name="search" />
        <span class="visually-hidden">Search conversations</span>
        <input type="search" placeholder="Search" value={query.value} onInput={(event) => void search(event.currentTarget.value)} />
      </label>
      <ul>
        {shown.length === 0 && <li class="nothing">{found.value === undefined ? 'Nothing is stored yet.' : 'Nothing was found.'}</li>}
        {shown.map((session) => {
          const isCurrent = session.sessionId === conversation.sessionId
          return (
            <SessionRow
              key={session.sessionId}
              session={session}
              isCurrent={isCurrent}
              excerpt={found.value?.get(session.sessionId)}
              onOpen={() => {
                void desk.open(session.sessionId)
                showPane('conversation')
              }}
              onDelete={() => {
                void desk.remove(session.sessionId)
                begin.current?.focus()
              }}
            >
              {isCurrent && conversation.record.value !== undefined && (
                <LoopTree
                  record={conversation.record.value}
                  current={conversation.loopId.value}
                  selected={desk.selection.value?.loopId}
                  onSelect={(loopId) => desk.select({ loopId, turnIndex: 0 })}
                  onOpen={(loopId) => void desk.open(session.sessionId, loopId)}
                />
              )}
            </SessionRow>
          )
        })}
      </ul>
      <TransferButtons desk={desk} />
      <Splitter pane="sessions" label="Width of the sessions" />
    </nav>
  )
}

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { Splitter } from '../layout/splitter.tsx'
import { plural } from '../parts/figures.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import type { AppState } from '../state/app/app-state.ts'
import { titleOf } from '../state/app/drafts.ts'
import type { KeptDraft } from '../state/conversation/kept-words.ts'
import { showPane } from '../state/layout.ts'
import { LoopTree } from '../tree/loop-tree.tsx'
import type { Hit } from './search-sessions.ts'
import { SessionRow } from './session-row.tsx'
import { SessionSearch } from './session-search.tsx'
import { TransferButtons } from './transfer-buttons.tsx'
import '../styles/sessions.css'

/** All conversations, newest first, with search and actions, and the current conversation's tree. */
export function SessionsPane({ appState, onStorage }: { appState: AppState; onStorage: () => void }) {
  const begin = useRef<HTMLButtonElement>(null)
  const hits = useSignal<readonly Hit[] | undefined>(undefined)
  const chosen = useSignal<ReadonlySet<string> | undefined>(undefined)
  const { stored, drafts } = appState
  const unsent =
    hits.value === undefined ? drafts.unsent.value.filter(({ sessionId }) => sessionId !== appState.current.value.sessionId) : []
  const shown: readonly Hit[] = hits.value ?? stored.sessions.value.map((session) => ({ session }))

  function choose(sessionId: string, is: boolean): void {
    const next = new Set(chosen.value)
    if (is) next.add(sessionId)
    else next.delete(sessionId)
    chosen.value = next
  }

  function remove(sessionIds: readonly string[]): void {
    chosen.value = undefined
    void appState.remove(sessionIds)
    begin.current?.focus()
  }

  function open(sessionId: string): void {
    void appState.open(sessionId)
    showPane('conversation')
  }

  return (
    <nav class="sessions" aria-label="Conversations">
      <header>
        <h2>Conversations</h2>
        {stored.sessions.value.length > 0 && (
          <IconButton
            icon="check"
            label="Choose conversations"
            isPressed={chosen.value !== undefined}
            onClick={() => (chosen.value = chosen.value === undefined ? new Set() : undefined)}
          />
        )}
        <button
          type="button"
          class="small"
          ref={begin}
          onClick={() => {
            appState.create()
            showPane('conversation')
          }}
        >
          <Icon name="plus" />
          New
        </button>
      </header>
      <SessionSearch appState={appState} hits={hits} />
      <ul>
        {shown.length + unsent.length === 0 && stored.isRead.value && (
          <li class="nothing">{hits.value === undefined ? 'No conversations yet.' : 'No matches.'}</li>
        )}
        {unsent.map(draftRow)}
        {shown.map(row)}
        {hits.value === undefined && stored.hasMore.value && (
          <li>
            <button type="button" class="small earlier" onClick={() => void stored.more()}>
              Earlier conversations
            </button>
          </li>
        )}
      </ul>
      {chosen.value !== undefined && (
        <ChosenBar
          count={chosen.value.size}
          onAll={() => (chosen.value = new Set(shown.map(({ session }) => session.sessionId)))}
          onDelete={() => remove([...(chosen.value ?? [])])}
          onCancel={() => (chosen.value = undefined)}
        />
      )}
      <TransferButtons appState={appState} onStorage={onStorage} />
      <Splitter pane="sessions" label="Width of the conversations" />
    </nav>
  )

  function draftRow(draft: KeptDraft) {
    const { sessionId, at } = draft
    return (
      <SessionRow
        key={sessionId}
        session={{ sessionId, title: titleOf(draft), startedAt: at, lastActiveAt: at, loops: 0, isOpen: false }}
        draft="alone"
        isCurrent={false}
        activity={undefined}
        excerpt={undefined}
        chosen={undefined}
        onOpen={() => open(sessionId)}
        onRename={undefined}
        onDelete={() => {
          void drafts.drop(sessionId)
          begin.current?.focus()
        }}
      />
    )
  }

  function row({ session, excerpt }: Hit) {
    const { sessionId } = session
    const conversation = appState.current.value
    const isCurrent = sessionId === conversation.sessionId
    const record = isCurrent ? conversation.record.value : undefined
    return (
      <SessionRow
        key={sessionId}
        session={session}
        isCurrent={isCurrent}
        activity={appState.activity.value.get(sessionId)}
        draft={!isCurrent && drafts.has(sessionId) ? 'beside' : undefined}
        excerpt={excerpt}
        chosen={chosen.value && { is: chosen.value.has(sessionId), onChange: (is) => choose(sessionId, is) }}
        onOpen={() => open(sessionId)}
        onRename={(title) => void stored.rename(sessionId, title)}
        onDelete={() => remove([sessionId])}
      >
        {record !== undefined && (
          <LoopTree
            record={record}
            current={conversation.loopId.value}
            selected={appState.selection.value?.loopId}
            onSelect={(loopId) => appState.select({ loopId, turnIndex: 0 })}
            onOpen={(loopId) => void appState.open(sessionId, loopId)}
          />
        )}
      </SessionRow>
    )
  }
}

interface ChosenBarProps {
  count: number
  onAll: () => void
  onDelete: () => void
  onCancel: () => void
}

/** Actions on the selected conversations. */
function ChosenBar({ count, onAll, onDelete, onCancel }: ChosenBarProps) {
  const isSure = useSignal(false)
  const ask = () => {
    if (isSure.value) onDelete()
    isSure.value = true
  }
  return (
    <div class="chosen" data-testid="chosen">
      <button type="button" class="small" onClick={onAll}>
        All
      </button>
      <button type="button" class="small danger" disabled={count === 0} onClick={ask}>
        {isSure.value ? `Yes, delete ${plural(count, 'conversation')}` : count === 0 ? 'Delete' : `Delete ${count}`}
      </button>
      <button type="button" class="small" onClick={onCancel}>
        Cancel
      </button>
    </div>
  )
}

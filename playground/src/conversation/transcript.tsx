import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Session } from '../../../src/session.ts'
import type { RunState } from '../../../src/store.ts'
import { ConnectionNotice, Ending, RaceCard } from '../late/conversation-parts.tsx'
import { Icon } from '../parts/icon.tsx'
import { scrollable } from '../parts/scrollable.ts'
import type { LostConnection } from '../remote/connection.ts'
import type { Misfits } from '../state/log/answer-fit.ts'
import type { CapturedTurn } from '../state/log/event-log.ts'
import { whyEnded } from '../state/log/why-ended.ts'
import type { Remedy } from '../state/notices/remedies.ts'
import type { Race } from '../state/race/race.ts'
import type { Selection } from '../state/selection.ts'
import { RetryNotice } from '../status/retry-notice.tsx'
import { BrokenOff } from './ending/broken-off.tsx'
import type { MessageActions } from './message.tsx'
import { MessageList } from './message-list.tsx'
import { Waiting } from './waiting.tsx'

interface TranscriptProps {
  state: RunState
  race: Race | undefined
  record: Session | undefined
  selection: Selection | undefined
  /** Whether the conversation continues in another tab or was deleted there, so that its end here is irrelevant. */
  isElsewhere: boolean
  /** Absent if the conversation is read-only. */
  actions: (MessageActions & { goOn(): void }) | undefined
  /** The model's URL. Absent if unknown. */
  modelUrl: string | undefined
  /** Absent under the same condition as `actions`. */
  onRemedy: ((remedy: Remedy) => void) | undefined
  /** Connection status to display, or `undefined` while connected. */
  connection: LostConnection | undefined
  requests: readonly CapturedTurn[]
  misfits: Misfits
  /** Whether the agent runs in this page, with its settings. */
  hasSettings: boolean
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
  /** Whether the conversation is empty. */
  isEmpty: boolean
  /** Content shown in an empty conversation. */
  welcome: ComponentChildren
}

/** The transcript. It follows the newest line until the reader scrolls up, and shows the selected item. */
export function Transcript(props: TranscriptProps) {
  const { state, race, selection, isElsewhere, actions, modelUrl, onRemedy, isEmpty, welcome, hasSettings, connection, ...rest } = props
  const box = useRef<HTMLElement>(null)
  const lines = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const isFollowing = useSignal(true)
  const why = state.status === 'running' || isElsewhere ? undefined : whyEnded(state, rest.misfits)
  const ending = why !== undefined && <Ending {...{ why, state, modelUrl, onRemedy, hasSettings }} />

  function follow(): void {
    // An empty conversation starts at the top.
    if (lines.current?.dataset.empty === 'true') return
    if (!isFollowing.value || box.current === null) return
    const { scrollHeight, clientHeight } = box.current
    box.current.scrollTop = scrollHeight
    // If the position is higher before the browser reports this scroll, the reader has scrolled up.
    lastTop.current = scrollHeight - clientHeight
  }

  function isAtEnd(): boolean {
    if (box.current === null) return true
    const { scrollTop, scrollHeight, clientHeight } = box.current
    return scrollHeight - scrollTop - clientHeight < 24
  }

  /** Visible lines may be taller than estimated, so only scrolling up stops following. */
  function onScroll(): void {
    if (box.current === null) return
    const { scrollTop } = box.current
    if (isAtEnd()) isFollowing.value = true
    else if (scrollTop < lastTop.current - 4) isFollowing.value = false
    lastTop.current = scrollTop
  }

  /** The browser scrolls in steps, and stops early if messages are taller than estimated. */
  function onKeyDown(event: KeyboardEvent): void {
    const { key, target, shiftKey, ctrlKey, altKey, metaKey } = event
    if (box.current === null || target !== box.current || shiftKey || ctrlKey || altKey || metaKey) return
    if (key !== 'Home' && key !== 'End') return
    event.preventDefault()
    isFollowing.value = key === 'End'
    follow()
    if (key === 'Home') box.current.scrollTop = 0
  }

  useLayoutEffect(follow)
  useEffect(() => {
    const observer = new ResizeObserver(follow)
    if (lines.current !== null) observer.observe(lines.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    const message = lines.current?.querySelector('[data-selected="true"]')
    if (selection === undefined || !message) return
    message.scrollIntoView({ block: 'nearest' })
    isFollowing.value = isAtEnd()
  }, [selection])

  return (
    <div class="transcript-frame">
      <section
        class="transcript"
        role="log"
        data-testid="transcript"
        aria-live="off"
        aria-label="Conversation"
        {...scrollable}
        ref={box}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div class="lines" ref={lines} data-empty={isEmpty}>
          {/* The reason for a missing response comes before suggestions. */}
          {isEmpty && ending}
          {isEmpty && welcome}
          <MessageList box={box} isFollowing={isFollowing} state={state} selection={selection} actions={actions} {...rest} />
          {race && <RaceCard race={race} />}
          <RetryNotice retry={state.retry} />
          {connection === undefined ? (
            <Waiting state={state} onStop={onRemedy && (() => onRemedy('stop'))} />
          ) : (
            ending === false && <ConnectionNotice connection={connection} />
          )}
          {!isEmpty && ending}
          {!isElsewhere && <BrokenOff state={state} onGoOn={actions?.goOn} />}
        </div>
      </section>
      {!isFollowing.value && (
        <button
          type="button"
          class="jump"
          onClick={() => {
            isFollowing.value = true
            follow()
          }}
        >
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  )
}

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Session } from '../../../src/index.ts'
import type { RunState } from '../../../src/store/index.ts'
import { Icon } from '../parts/icon.tsx'
import { RaceCard } from '../race/race-card.tsx'
import type { CapturedTurn } from '../state/event-log.ts'
import type { Race } from '../state/race.ts'
import type { Selection } from '../state/selection.ts'
import { BrokenOff, Ending } from './ending.tsx'
import type { MessageActions } from './message.tsx'
import { MessageList } from './message-list.tsx'
import { Welcome } from './welcome.tsx'

interface TranscriptProps {
  state: RunState
  race: Race | undefined
  record: Session | undefined
  selection: Selection | undefined
  /** Absent where nothing can be said or decided. */
  actions: (MessageActions & { goOn(): void }) | undefined
  requests: readonly CapturedTurn[]
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
  /** Scenarios of the scripted model are offered. */
  isScripted: boolean
}

/** The transcript. It follows the newest line until the reader scrolls up, and shows what is selected. */
export function Transcript({ state, race, selection, actions, isScripted, ...rest }: TranscriptProps) {
  const box = useRef<HTMLElement>(null)
  const lines = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const isFollowing = useSignal(true)
  const isEmpty = state.messages.length === 0 && state.live === undefined && race === undefined

  function follow(): void {
    if (!isFollowing.value || box.current === null) return
    const { scrollHeight, clientHeight } = box.current
    box.current.scrollTop = scrollHeight
    // Who scrolls up before the browser tells of this has scrolled up.
    lastTop.current = scrollHeight - clientHeight
  }

  /** Lines that come into sight may turn out to be taller than was thought: only who scrolls up stops following. */
  function onScroll(): void {
    if (box.current === null) return
    const { scrollTop, scrollHeight, clientHeight } = box.current
    if (scrollHeight - scrollTop - clientHeight < 24) isFollowing.value = true
    else if (scrollTop < lastTop.current - 4) isFollowing.value = false
    lastTop.current = scrollTop
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
    isFollowing.value = false
    message.scrollIntoView({ block: 'nearest' })
  }, [selection])

  return (
    <div class="transcript-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section class="transcript" role="log" aria-live="off" aria-label="Conversation" tabIndex={0} ref={box} onScroll={onScroll}>
        <div class="lines" ref={lines} data-empty={isEmpty}>
          {isEmpty && <Welcome isScripted={isScripted} />}
          <MessageList state={state} selection={selection} actions={actions} {...rest} />
          {race && <RaceCard race={race} />}
          <Ending state={state} />
          <BrokenOff state={state} onGoOn={actions?.goOn} />
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

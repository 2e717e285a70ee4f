import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Session } from '../../../src/index.ts'
import type { RunState } from '../../../src/store/index.ts'
import { Note } from '../notes/note.tsx'
import { Icon } from '../parts/icon.tsx'
import { RaceCard } from '../race/race-card.tsx'
import { RecordedRace } from '../race/recorded-race.tsx'
import type { CapturedTurn } from '../state/event-log.ts'
import type { Race } from '../state/race.ts'
import type { Selection } from '../state/selection.ts'
import { BrokenOff, Ending } from './ending.tsx'
import { Message, type MessageActions } from './message.tsx'
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
}

/** The transcript. It follows the newest line until the reader scrolls up. */
export function Transcript({ state, race, record, selection, actions, requests, onSelect, onBranch }: TranscriptProps) {
  const { messages, live, tools, approvals, notes, children } = state
  const box = useRef<HTMLElement>(null)
  const isFollowing = useSignal(true)

  // Finished messages are rendered again only when one is added or a tool moves; a delta touches the live one alone.
  const finished = useMemo(() => {
    const shared = { tools, approvals, runs: children, actions, onSelect, onBranch }
    const groups = new Map(record?.loops.flatMap((loop) => (loop.parallelGroup?.isSelected ? [[loop.messages[0]?.id, loop] as const] : [])))
    return messages.flatMap((view) => {
      const chosen = groups.get(view.id)
      return [
        <Message key={view.id} view={view} isSelected={isSelected(view.message, selection)} {...shared} />,
        chosen && record && <RecordedRace key={`race ${view.id}`} record={record} loop={chosen} />,
        ...notes.filter((note) => note.afterMessageId === view.id).map((note) => <Note key={note.id} {...{ note, messages, requests }} />),
      ]
    })
  }, [messages, tools, approvals, notes, actions, selection, record, children])

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
        {messages.length === 0 && live === undefined && race === undefined && <Welcome />}
        {finished}
        {live && (
          <Message key={live.id} view={live} isSelected={false} {...{ tools, approvals, runs: children, actions, onSelect, onBranch }} />
        )}
        {live &&
          notes.filter((note) => note.afterMessageId === live.id).map((note) => <Note key={note.id} {...{ note, messages, requests }} />)}
        {race && <RaceCard race={race} />}
        <Ending state={state} />
        <BrokenOff state={state} onGoOn={actions?.goOn} />
      </section>
      {!isFollowing.value && (
        <button type="button" class="jump" onClick={() => (isFollowing.value = true)}>
          <Icon name="down" /> Newest
        </button>
      )}
    </div>
  )
}

function isSelected(
  message: { role: string; turnId?: { loopId: string; turnIndex: number } } | undefined,
  selection: Selection | undefined,
) {
  if (message === undefined || selection === undefined || message.role !== 'assistant') return false
  return message.turnId?.loopId === selection.loopId && message.turnId.turnIndex === selection.turnIndex
}

function isAtBottom(element: HTMLElement): boolean {
  return element.scrollHeight - element.scrollTop - element.clientHeight < 24
}

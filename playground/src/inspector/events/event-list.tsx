import { useRef } from 'preact/hooks'
import type { AgentEvent } from '../../../../src/index.ts'
import { escapeControls } from '../../../../src/store.ts'
import { timeOfDay } from '../../parts/figures.ts'
import { useRowWindow } from '../../parts/row-window.ts'
import { gist } from './event-gist.ts'

const rowHeight = 26

interface EventListProps {
  events: readonly AgentEvent[]
  chosen: AgentEvent | undefined
  isFollowing: boolean
  onChoose: (event: AgentEvent) => void
}

/** A list of any number of events, which renders only the visible ones. Arrow keys move the selection. */
export function EventList({ events, chosen, isFollowing, onChoose }: EventListProps) {
  const box = useRef<HTMLDivElement>(null)
  const { from, to, before, after, onScroll, reveal } = useRowWindow(box, events.length, rowHeight, isFollowing)
  const at = chosen === undefined ? -1 : events.lastIndexOf(chosen)

  function onKeyDown(event: KeyboardEvent): void {
    const last = events.length - 1
    const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? last : at - 1, Home: 0, End: last, PageDown: at + 20, PageUp: at - 20 }[event.key]
    if (next === undefined || last < 0) return
    event.preventDefault()
    const row = Math.min(last, Math.max(0, next))
    const picked = events[row]
    if (picked !== undefined) onChoose(picked)
    reveal(row)
  }

  return (
    <div
      class="event-list"
      role="listbox"
      aria-label="Event list"
      aria-activedescendant={at >= from && at < to ? `event-${at}` : undefined}
      tabIndex={0}
      ref={box}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div aria-hidden="true" style={{ height: `${before}px` }} />
      {events.slice(from, to).map((event, index) => (
        <Row
          key={`${event.runId}-${event.seq}`}
          event={event}
          index={from + index}
          count={events.length}
          isChosen={event === chosen}
          onChoose={onChoose}
        />
      ))}
      <div aria-hidden="true" style={{ height: `${after}px` }} />
    </div>
  )
}

interface RowProps {
  event: AgentEvent
  index: number
  count: number
  isChosen: boolean
  onChoose: (event: AgentEvent) => void
}

function Row({ event, index, count, isChosen, onChoose }: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys.
    <div
      role="option"
      id={`event-${index}`}
      class="event-row"
      data-testid="event"
      data-type={event.type}
      aria-selected={isChosen}
      aria-posinset={index + 1}
      aria-setsize={count}
      tabIndex={-1}
      onClick={() => onChoose(event)}
    >
      <span class="seq">{event.seq}</span>
      <time>{timeOfDay(event.at)}</time>
      <code class="type">{event.type}</code>
      <span class="gist">{escapeControls(gist(event).slice(0, 300))}</span>
    </div>
  )
}

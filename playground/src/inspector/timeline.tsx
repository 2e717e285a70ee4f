import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { AgentEvent } from '../../../src/index.ts'
import { eventLimit } from '../session.ts'
import { EventRow } from './event-row.tsx'

/** Every event of the conversation as it arrives, newest at the bottom. */
export function Timeline({ events }: { events: ReadonlySignal<readonly AgentEvent[]> }) {
  const hasDeltas = useSignal(false)
  const list = useRef<HTMLOListElement>(null)
  const shown = hasDeltas.value ? events.value : events.value.filter((event) => event.type !== 'messageUpdate')
  const wasAtBottom = list.current === null || list.current.scrollHeight - list.current.scrollTop - list.current.clientHeight < 24

  useLayoutEffect(() => {
    if (wasAtBottom && list.current !== null) list.current.scrollTop = list.current.scrollHeight
  })

  return (
    <aside class="timeline" aria-label="Events">
      <header>
        <h2>Events</h2>
        <span class="count" data-testid="event-count">
          {events.value.length === eventLimit ? `newest ${eventLimit}` : events.value.length}
        </span>
        <label>
          <input type="checkbox" checked={hasDeltas.value} onChange={(event) => (hasDeltas.value = event.currentTarget.checked)} /> deltas
        </label>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <ol ref={list} tabIndex={0} aria-label="Event list">
        {shown.length === 0 && <li class="nothing">Nothing has happened yet on this page.</li>}
        {shown.map((event) => (
          <EventRow key={`${event.runId}-${event.seq}`} event={event} />
        ))}
      </ol>
    </aside>
  )
}

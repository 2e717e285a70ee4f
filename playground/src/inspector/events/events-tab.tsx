import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { AgentEvent } from '../../../../src/index.ts'
import { escapeControls } from '../../../../src/store.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { count } from '../../parts/figures.ts'
import { IconButton } from '../../parts/icon-button.tsx'
import { scrollable } from '../../parts/scrollable.ts'
import type { TabProps } from '../tab-props.ts'
import { gist, targetOf } from './event-gist.ts'
import { EventList } from './event-list.tsx'

/** Longer JSON is truncated on the page. A copy contains all of it. */
const shownJson = 60_000

/** All events in the conversation in order of arrival, with filters and each event's JSON. */
export function EventsTab({ appState, conversation }: TabProps) {
  const { log } = conversation
  const filter = useSignal('')
  const hasDeltas = useSignal(false)
  const chosen = useSignal<AgentEvent | undefined>(undefined)
  const version = log.version.value
  const shown = useMemo(() => filtered(log.events, filter.value, hasDeltas.value), [version, filter.value, hasDeltas.value])

  function choose(event: AgentEvent): void {
    chosen.value = event
    appState.select(targetOf(event, turnOf(log.events, event)))
  }

  return (
    <>
      <div class="event-bar">
        <label class="search-field">
          <span class="visually-hidden">Filter events</span>
          <input
            type="search"
            placeholder="Filter by type or text"
            value={filter.value}
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input type="checkbox" checked={hasDeltas.value} onChange={(event) => (hasDeltas.value = event.currentTarget.checked)} /> deltas
        </label>
        <span class="soft" data-testid="event-count">
          {shown.length === log.events.length ? count(shown.length) : `${count(shown.length)} of ${count(log.events.length)}`}
        </span>
      </div>
      {log.dropped > 0 && <p class="nothing">The oldest {count(log.dropped)} events are kept no longer.</p>}
      {shown.length === 0 ? (
        <p class="nothing">{log.events.length === 0 ? 'No events yet.' : 'No event matches the filter.'}</p>
      ) : (
        <EventList events={shown} chosen={chosen.value} isFollowing={conversation.state.value.status === 'running'} onChoose={choose} />
      )}
      {chosen.value !== undefined && <Detail event={chosen.value} onClose={() => (chosen.value = undefined)} />}
    </>
  )
}

function Detail({ event, onClose }: { event: AgentEvent; onClose: () => void }) {
  const json = useMemo(() => JSON.stringify(event, undefined, 2), [event])
  return (
    <section class="event-detail" aria-label="Event">
      <header>
        <h3>
          {event.type} <span class="soft">#{event.seq}</span>
        </h3>
        <CopyButton label="Copy the event" text={() => json} />
        <IconButton icon="close" label="Close the event" onClick={onClose} />
      </header>
      <pre {...scrollable} data-testid="event-json">
        {escapeControls(json.length > shownJson ? `${json.slice(0, shownJson)}\n…` : json)}
      </pre>
    </section>
  )
}

function filtered(events: readonly AgentEvent[], text: string, hasDeltas: boolean): readonly AgentEvent[] {
  const wanted = text.trim().toLowerCase()
  const isShown = (event: AgentEvent) => {
    const inner = event.type === 'childEvent' ? event.event : event
    if (!hasDeltas && inner.type === 'messageUpdate') return false
    return wanted === '' || `${event.type} ${gist(event)}`.toLowerCase().includes(wanted)
  }
  return events.filter(isShown)
}

/** Returns the turn in which an event happened: the last turn that its loop had started by then. */
function turnOf(events: readonly AgentEvent[], event: AgentEvent): number {
  for (let at = events.lastIndexOf(event); at >= 0; at -= 1) {
    const other = events[at]
    if (other?.type === 'turnStart' && other.loopId === event.loopId) return other.turnIndex
  }
  return 0
}

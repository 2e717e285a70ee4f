import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isDrawerOpen, type Pane, paneWidths, shownPane, showPane } from '../state/layout.ts'

const names: Record<Pane, string> = { sessions: 'Conversations', conversation: 'Conversation', inspector: 'Inspector' }

/** Three panes side by side. On a narrow page the inspector is a drawer, and on a phone only one pane is visible. */
export function Panes({ sessions, conversation, inspector }: Record<Pane, ComponentChildren>) {
  const frame = useRef<HTMLDivElement>(null)
  const [left, right] = [paneWidths.sessions.value, paneWidths.inspector.value]
  useEffect(() => {
    frame.current?.style.setProperty('--left', `${left}px`)
    frame.current?.style.setProperty('--right', `${right}px`)
  }, [left, right])

  return (
    <div class="panes" ref={frame} data-pane={shownPane.value} data-drawer={isDrawerOpen.value ? 'open' : 'closed'}>
      <nav class="pane-tabs" aria-label="Panes">
        {(Object.keys(names) as Pane[]).map((pane) => (
          <button key={pane} type="button" aria-pressed={shownPane.value === pane} onClick={() => showPane(pane)}>
            {names[pane]}
          </button>
        ))}
      </nav>
      {sessions}
      {conversation}
      {inspector}
    </div>
  )
}

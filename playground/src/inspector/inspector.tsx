import { lazy } from '../late/lazy.tsx'
import { Splitter } from '../layout/splitter.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { showPane } from '../state/layout.ts'
import { type InspectorTab, inspectorTabs } from '../state/selection.ts'
import type { TabProps } from './tab-props.ts'
import { TraceTab } from './trace/trace-tab.tsx'
import '../styles/inspector/trace.css'
import '../styles/inspector/request.css'
import '../styles/inspector/events.css'
import '../styles/inspector/usage.css'

const names: Record<InspectorTab, string> = { trace: 'Trace', request: 'Request', events: 'Events', usage: 'Usage' }

const RequestTab = lazy<TabProps>(async () => (await import('./request/request-tab.tsx')).RequestTab)
const EventsTab = lazy<TabProps>(async () => (await import('./events/events-tab.tsx')).EventsTab)
const UsageTab = lazy<TabProps>(async () => (await import('./usage/usage-tab.tsx')).UsageTab)

/** The inspector: trace, requests, events, usage. */
export function Inspector({ appState, conversation }: TabProps) {
  const tab = appState.tab.value

  function onKeyDown(event: KeyboardEvent): void {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (by === undefined) return
    const next = inspectorTabs[(inspectorTabs.indexOf(tab) + by + inspectorTabs.length) % inspectorTabs.length] ?? tab
    appState.showTab(next)
    document.getElementById(`tab-${next}`)?.focus()
  }

  return (
    <aside class="inspector" aria-label="Inspector">
      <h2 class="visually-hidden">Inspector</h2>
      <Splitter pane="inspector" label="Width of the inspector" />
      <div class="tabs">
        <div role="tablist" aria-label="Inspector" onKeyDown={onKeyDown}>
          {inspectorTabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-selected={name === tab}
              aria-controls="inspector-panel"
              tabIndex={name === tab ? 0 : -1}
              onClick={() => appState.showTab(name)}
            >
              {names[name]}
            </button>
          ))}
        </div>
        <span class="tabs-end">
          {appState.selection.value !== undefined && (
            <button type="button" class="small" onClick={() => appState.select(undefined)} title="Follow the latest turn again">
              Follow newest
            </button>
          )}
          <span class="drawer-close">
            <IconButton icon="close" label="Close the inspector" onClick={() => showPane('conversation')} />
          </span>
        </span>
      </div>
      <div class="tab-panel" role="tabpanel" id="inspector-panel" aria-labelledby={`tab-${tab}`} data-tab={tab}>
        {tab === 'trace' && <TraceTab appState={appState} conversation={conversation} />}
        {tab === 'request' && <RequestTab appState={appState} conversation={conversation} />}
        {tab === 'events' && <EventsTab appState={appState} conversation={conversation} />}
        {tab === 'usage' && <UsageTab appState={appState} conversation={conversation} />}
      </div>
    </aside>
  )
}

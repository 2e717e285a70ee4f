import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Announcer } from './conversation/announcer.tsx'
import { Composer } from './conversation/composer.tsx'
import { Conversation } from './conversation/conversation.tsx'
import { ScenarioBar } from './conversation/scenario-bar.tsx'
import type { Desk } from './desk.ts'
import { Timeline } from './inspector/timeline.tsx'
import { InterferenceNotice } from './sessions/interference-notice.tsx'
import { SessionList } from './sessions/session-list.tsx'
import { StatusBar } from './status/status-bar.tsx'

/** On a narrow page one of them is shown at a time. */
const panes = { sessions: 'Conversations', conversation: 'Conversation', events: 'Events' } as const

/** The page: status on top, the stored conversations, the one that is shown, and the events it is made of. */
export function App({ desk }: { desk: Desk }) {
  const pane = useSignal<keyof typeof panes>('conversation')
  const session = desk.current.value
  const state = session.state.value
  const isRunning = state.status === 'running'
  const isElsewhere = desk.interference.value !== undefined

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && session.state.value.status === 'running') session.abort()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [session])

  return (
    <div class="app" data-pane={pane.value}>
      <StatusBar state={state} model={session.agent.model.config.name} />
      <nav class="panes" aria-label="Panes">
        {Object.entries(panes).map(([name, label]) => (
          <button key={name} type="button" aria-pressed={pane.value === name} onClick={() => (pane.value = name as keyof typeof panes)}>
            {label}
          </button>
        ))}
      </nav>
      <SessionList desk={desk} onPick={() => (pane.value = 'conversation')} />
      <main class="conversation-pane">
        <Conversation
          key={session.agent.sessionId}
          state={state}
          decisions={isElsewhere ? undefined : session}
          onGoOn={isElsewhere ? undefined : session.goOn}
        />
        <footer class="dock">
          {desk.warning.value !== undefined && <p class="warning">{desk.warning.value}</p>}
          <InterferenceNotice desk={desk} />
          <ScenarioBar isDisabled={isRunning || isElsewhere} onPick={(prompt) => session.send(prompt)} />
          <Composer session={session} isRunning={isRunning} isDisabled={isElsewhere} />
        </footer>
      </main>
      <Timeline events={session.events} />
      <Announcer state={state} />
    </div>
  )
}

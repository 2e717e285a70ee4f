import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Announcer } from './conversation/announcer.tsx'
import { Composer } from './conversation/composer.tsx'
import { Conversation } from './conversation/conversation.tsx'
import { ScenarioBar } from './conversation/scenario-bar.tsx'
import { Timeline } from './inspector/timeline.tsx'
import type { Session } from './session.ts'
import { StatusBar } from './status/status-bar.tsx'

/** The page: status on top, the conversation, and the events it is made of. */
export function App({ session }: { session: Session }) {
  const pane = useSignal<'conversation' | 'events'>('conversation')
  const state = session.state.value
  const isRunning = state.status === 'running'

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && session.state.value.status === 'running') session.abort()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [session])

  return (
    <div class="app" data-pane={pane.value}>
      <StatusBar state={state} model={session.agent.model.config.name} onReset={() => session.reset()} />
      <nav class="panes" aria-label="Panes">
        <button type="button" aria-pressed={pane.value === 'conversation'} onClick={() => (pane.value = 'conversation')}>
          Conversation
        </button>
        <button type="button" aria-pressed={pane.value === 'events'} onClick={() => (pane.value = 'events')}>
          Events
        </button>
      </nav>
      <main class="conversation-pane">
        <Conversation state={state} onApprove={session.approve} onDeny={session.deny} />
        <footer class="dock">
          <ScenarioBar isDisabled={isRunning} onPick={(prompt) => session.send(prompt)} />
          <Composer session={session} isRunning={isRunning} />
        </footer>
      </main>
      <Timeline events={session.events} />
      <Announcer state={state} />
    </div>
  )
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ConversationPane } from './conversation/conversation-pane.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { Panes } from './layout/panes.tsx'
import { commandsOf } from './palette/commands.ts'
import { KeyHelp } from './palette/key-help.tsx'
import { onKeysOf } from './palette/keys.ts'
import { Palette } from './palette/palette.tsx'
import { SessionsPane } from './sessions/sessions-pane.tsx'
import type { Desk } from './state/desk.ts'
import { isDrawerOpen, showPane } from './state/layout.ts'
import { Announcer } from './status/announcer.tsx'
import { TopBar } from './status/top-bar.tsx'

/** The page: status on top, the stored conversations, the one that is shown, and what it is made of. */
export function App({ desk }: { desk: Desk }) {
  const dialog = useSignal<'palette' | 'keys' | undefined>(undefined)
  const conversation = desk.current.value
  const state = conversation.state.value
  const close = () => (dialog.value = undefined)
  const open = (which: 'palette' | 'keys') => (dialog.value = which)

  useEffect(() => {
    const onKey = onKeysOf(desk, open)
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [desk])

  return (
    <div class="app">
      <TopBar
        state={state}
        isRacing={conversation.race.value?.isRunning === true}
        model={conversation.chat.model}
        isDrawerOpen={isDrawerOpen.value}
        onPalette={() => open('palette')}
        onDrawer={() => showPane(isDrawerOpen.value ? 'conversation' : 'inspector')}
        onUsage={() => {
          desk.showTab('usage')
          showPane('inspector')
        }}
      />
      <Panes
        sessions={<SessionsPane desk={desk} />}
        conversation={<ConversationPane key={conversation.sessionId} desk={desk} conversation={conversation} />}
        inspector={<Inspector key={conversation.sessionId} desk={desk} conversation={conversation} />}
      />
      <Announcer state={state} />
      {dialog.value === 'palette' && <Palette commands={commandsOf(desk, () => open('keys'))} onClose={close} />}
      {dialog.value === 'keys' && <KeyHelp onClose={close} />}
    </div>
  )
}

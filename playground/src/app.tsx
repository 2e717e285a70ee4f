import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { ConversationPane } from './conversation/conversation-pane.tsx'
import { whenIdle } from './late/idle.ts'
import { CompareDialog, Inspector, KeyHelp, loadDialogs, Palette, SessionsPane, SettingsDialog, StorageDialog } from './late/page-parts.tsx'
import { Panes } from './layout/panes.tsx'
import { onKeysOf } from './palette/keys.ts'
import type { AppState } from './state/app/app-state.ts'
import { type DialogName, isDrawerOpen, showPane } from './state/layout.ts'
import { Announcer } from './status/announcer.tsx'
import { RunStatus } from './status/run-status.tsx'
import { nameTab } from './status/tab-title.ts'
import { TopBar } from './status/top-bar.tsx'

/** The page: the status bar, the stored conversations, the current conversation and the inspector. `dialog` is open initially. */
export function App({ appState, dialog: first }: { appState: AppState; dialog?: DialogName | undefined }) {
  const dialog = useSignal(first)
  const conversation = appState.current.value
  const state = conversation.state.value
  const close = () => (dialog.value = undefined)
  const open = (which: DialogName) => (dialog.value = which)

  // Use a layout effect, which runs before the first paint, so that no key press is lost while the page opens.
  useLayoutEffect(() => {
    const onKey = onKeysOf(appState, open)
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [appState])

  useEffect(() => nameTab(appState), [appState])

  useEffect(() => whenIdle(loadDialogs), [])

  return (
    <div class="app">
      <TopBar
        state={state}
        runStatus={<RunStatus appState={appState} onAway={() => showPane('sessions')} />}
        model={conversation.chat.model}
        isDrawerOpen={isDrawerOpen.value}
        onPalette={() => open('palette')}
        onSettings={() => open('settings')}
        onDrawer={() => showPane(isDrawerOpen.value ? 'conversation' : 'inspector')}
        onUsage={() => {
          appState.showTab('usage')
          showPane('inspector')
        }}
      />
      <Panes
        sessions={<SessionsPane appState={appState} onStorage={() => open('storage')} />}
        conversation={<ConversationPane key={conversation.sessionId} appState={appState} conversation={conversation} onDialog={open} />}
        inspector={<Inspector key={conversation.sessionId} appState={appState} conversation={conversation} />}
      />
      <Announcer
        state={state}
        misfits={conversation.log.misfits.value}
        race={conversation.race.value}
        isElsewhere={appState.interference.value !== undefined}
      />
      {dialog.value === 'palette' && <Palette appState={appState} open={open} onClose={close} />}
      {(dialog.value === 'settings' || dialog.value === 'agent' || dialog.value === 'code') && (
        <SettingsDialog appState={appState} tab={dialog.value === 'settings' ? 'model' : dialog.value} onClose={close} />
      )}
      {dialog.value === 'compare' && <CompareDialog appState={appState} onClose={close} />}
      {dialog.value === 'storage' && <StorageDialog appState={appState} onClose={close} />}
      {dialog.value === 'keys' && <KeyHelp onClose={close} />}
    </div>
  )
}

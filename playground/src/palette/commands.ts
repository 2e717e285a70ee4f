import { play } from '../demo/play.ts'
import { scenarios } from '../demo/scenarios/index.ts'
import { endpoint } from '../remote/endpoint.ts'
import type { AppState } from '../state/app/app-state.ts'
import { type DialogName, showPane } from '../state/layout.ts'
import { inspectorTabs } from '../state/selection.ts'
import { toggleTheme } from '../state/theme.ts'
import { areKeysOn } from './keys.ts'

/** An action with a name. */
export interface Command {
  id: string
  group: string
  name: string
  keys?: string
  run: () => void
}

/** Returns all actions that are currently available. */
export function commandsOf(appState: AppState, open: (dialog: DialogName) => void): Command[] {
  const conversation = appState.current.value
  const isRunning = conversation.state.value.status === 'running'
  const isEmpty = conversation.state.value.messages.length === 0
  // Scenarios need this tab's scripted model.
  const isScripted = conversation.chat.model.isScripted && appState.backend.settings.value.place === 'tab'
  const runs = isRunning
    ? [{ id: 'stop', group: 'Run', name: 'Stop the run', keys: 'Esc', run: conversation.abort }]
    : (isScripted ? scenarios : []).map((scenario) => ({
        id: `scenario ${scenario.name}`,
        group: 'Scripted scenarios',
        name: `${scenario.name} · ${scenario.shows}`,
        run: () => play(appState, conversation, scenario),
      }))
  const ofConversation = [
    { id: 'rerun', group: 'Run', name: 'Regenerate the last response', run: conversation.regenerate },
    { id: 'compact', group: 'Run', name: 'Compact the context now', run: conversation.compact },
    { id: 'replay', group: 'Conversation', name: 'Replay this conversation', run: () => void appState.replay() },
  ]
  return [
    { id: 'new', group: 'Conversation', name: 'New conversation', run: appState.create },
    ...runs,
    ...(isRunning || isEmpty ? [] : ofConversation),
    ...(isRunning || conversation.chat.compare === undefined
      ? []
      : [{ id: 'compare', group: 'Run', name: 'Compare 2 to 4 configurations', run: () => open('compare') }]),
    ...inspectorTabs.map((tab) => ({
      id: `tab ${tab}`,
      group: 'Inspector',
      name: `Show ${tab}`,
      run: () => {
        appState.showTab(tab)
        showPane('inspector')
      },
    })),
    ...appState.stored.sessions.value.map(({ sessionId, title }) => ({
      id: `open ${sessionId}`,
      group: 'Open',
      name: title || 'Conversation',
      run: () => void appState.open(sessionId),
    })),
    { id: 'settings', group: 'Page', name: 'Model and settings', run: () => open('settings') },
    { id: 'code', group: 'Page', name: 'View code for these settings', run: () => open('code') },
    ...placeCommands(appState),
    { id: 'storage', group: 'Page', name: 'Storage in this browser', run: () => open('storage') },
    { id: 'theme', group: 'Page', name: 'Light or dark', run: toggleTheme },
    {
      id: 'letters',
      group: 'Page',
      name: areKeysOn.value ? 'Turn single-letter keys off' : 'Turn single-letter keys on',
      run: () => {
        areKeysOn.value = !areKeysOn.value
      },
    },
    { id: 'help', group: 'Page', name: 'All keys', keys: '?', run: () => open('keys') },
  ]
}

/** Commands that move the conversation to the other place, or change the place for later conversations. */
function placeCommands(appState: AppState): Command[] {
  const settings = appState.backend.settings.value
  const next = { ...settings, place: settings.place === 'tab' ? 'server' : 'tab' } as const
  const name = next.place === 'server' ? 'Move the conversation to the server' : 'Move the conversation to this tab'
  if (endpoint !== undefined || appState.current.value.record.value === undefined) return []
  return [{ id: 'handover', group: 'Conversation', name, run: () => void appState.handOver(next) }]
}

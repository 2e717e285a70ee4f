import { play } from '../demo/play.ts'
import { scenarios } from '../demo/scenarios/index.ts'
import { endpoint } from '../remote/endpoint.ts'
import type { AppState } from '../state/app/app-state.ts'
import { type DialogName, showPane } from '../state/layout.ts'
import { inspectorTabs } from '../state/selection.ts'
import { toggleTheme } from '../state/theme.ts'
import { areKeysOn } from './keys.ts'

/** Something that can be done by name. */
export interface Command {
  id: string
  group: string
  name: string
  keys?: string
  run: () => void
}

/** Everything that can be done now. */
export function commandsOf(appState: AppState, open: (dialog: DialogName) => void): Command[] {
  const conversation = appState.current.value
  const isRunning = conversation.state.value.status === 'running'
  const isEmpty = conversation.state.value.messages.length === 0
  // They are of the model of this tab.
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
    { id: 'rerun', group: 'Run', name: 'Answer the last question again', run: conversation.regenerate },
    { id: 'compact', group: 'Run', name: 'Compact what is sent now', run: conversation.compact },
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
    { id: 'code', group: 'Page', name: 'View code: these settings as a program', run: () => open('code') },
    ...placeCommands(appState),
    { id: 'storage', group: 'Page', name: 'Storage: what this browser keeps', run: () => open('storage') },
    { id: 'theme', group: 'Page', name: 'Light or dark', run: toggleTheme },
    {
      id: 'letters',
      group: 'Page',
      name: areKeysOn.value ? 'Switch single-letter keys off' : 'Switch single-letter keys on',
      run: () => {
        areKeysOn.value = !areKeysOn.value
      },
    },
    { id: 'help', group: 'Page', name: 'All keys', keys: '?', run: () => open('keys') },
  ]
}

/** Hands the conversation over to the other place, and changes the place for what comes. */
function placeCommands(appState: AppState): Command[] {
  const settings = appState.backend.settings.value
  const next = { ...settings, place: settings.place === 'tab' ? 'server' : 'tab' } as const
  const name = next.place === 'server' ? 'Hand the conversation to the server' : 'Take the conversation into this tab'
  if (endpoint !== undefined || appState.current.value.record.value === undefined) return []
  return [{ id: 'handover', group: 'Conversation', name, run: () => void appState.handOver(next) }]
}

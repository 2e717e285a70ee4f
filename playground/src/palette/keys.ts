import { signal } from '@preact/signals'
import type { AppState } from '../state/app/app-state.ts'
import { showPane } from '../state/layout.ts'
import { type InspectorTab, inspectorTabs } from '../state/selection.ts'
import { isCommandKey } from './command-key.ts'
import { isComposing } from './composing.ts'

/** Single-letter keys can be turned off, because speech input can trigger them by accident (WCAG 2.1.4). */
export const areKeysOn = signal(true)

/** Key handlers for the whole page. Single letters work only outside fields. */
export function onKeysOf(appState: AppState, open: (dialog: 'palette' | 'keys') => void): (event: KeyboardEvent) => void {
  const acts: Record<string, () => void> = {
    m: () => {
      showPane('conversation')
      document.querySelector<HTMLElement>('.transcript')?.focus()
    },
    t: () => showTab(appState, 'trace'),
    d: () => showTab(appState, 'request'),
    j: () => moveMessage(1),
    k: () => moveMessage(-1),
    '[': () => moveTurn(appState, -1),
    ']': () => moveTurn(appState, 1),
    '/': () => document.getElementById('composer')?.focus(),
    '?': () => open('keys'),
  }
  return (event) => {
    if (document.querySelector('dialog[open]') !== null) return
    const conversation = appState.current.value
    if (isCommandKey(event)) {
      event.preventDefault()
      open('palette')
      return
    }
    if (event.key === 'Escape') {
      // An input method or another field handles Escape itself.
      if (!isComposing(event) && !isInOtherField(event)) conversation.abort()
      return
    }
    const act = acts[event.key.toLowerCase()]
    if (act === undefined || !areKeysOn.value || event.metaKey || event.ctrlKey || event.altKey || isInField(event)) return
    event.preventDefault()
    act()
  }
}

function showTab(appState: AppState, tab: InspectorTab): void {
  if (!inspectorTabs.includes(tab)) return
  appState.showTab(tab)
  showPane('inspector')
}

function moveMessage(by: number): void {
  const messages = [...document.querySelectorAll<HTMLElement>('.transcript .message')]
  const at = messages.indexOf(document.activeElement?.closest<HTMLElement>('.message') ?? document.body)
  const next = messages[at < 0 ? (by > 0 ? 0 : messages.length - 1) : Math.min(messages.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function moveTurn(appState: AppState, by: number): void {
  const { requests } = appState.current.value.log
  const { value: now } = appState.selection
  const found = requests.findLastIndex(({ loopId, turnIndex }) => loopId === now?.loopId && turnIndex === now.turnIndex)
  const next = requests[now === undefined ? requests.length - 1 : Math.min(requests.length - 1, Math.max(0, found + by))]
  if (next !== undefined) appState.select({ loopId: next.loopId, turnIndex: next.turnIndex })
}

/** Returns whether the target is a field other than the composer, which does not use Escape. */
function isInOtherField(event: KeyboardEvent): boolean {
  return isInField(event) && !(event.target instanceof HTMLElement && event.target.id === 'composer')
}

function isInField({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
}

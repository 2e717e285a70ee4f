import { signal } from '@preact/signals'

export type Pane = 'sessions' | 'conversation' | 'inspector'

/** The visible pane on a narrow page. */
export const shownPane = signal<Pane>('conversation')
/** Whether the inspector overlays the conversation because of limited space. */
export const isDrawerOpen = signal(false)
/** Pixels. */
export const paneWidths = { sessions: signal(248), inspector: signal(440) }
export const widthLimits = { sessions: [180, 420], inspector: [300, 900] } as const

/** Makes a pane visible in any layout. */
export function showPane(pane: Pane): void {
  shownPane.value = pane
  isDrawerOpen.value = pane === 'inspector'
}

export function resizePane(pane: keyof typeof paneWidths, width: number): void {
  const [least, most] = widthLimits[pane]
  paneWidths[pane].value = Math.round(Math.min(most, Math.max(least, width)))
}

/** The open overlay. */
export type DialogName = 'palette' | 'keys' | 'settings' | 'agent' | 'code' | 'compare' | 'storage'

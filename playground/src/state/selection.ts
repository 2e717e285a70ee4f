import { type ReadonlySignal, signal } from '@preact/signals'

/** The selected turn or call, shared by all panes. */
export interface Selection {
  loopId: string
  turnIndex: number
  toolCallId?: string
}

export const inspectorTabs = ['trace', 'request', 'events', 'usage'] as const
export type InspectorTab = (typeof inspectorTabs)[number]

/** The URL fragment: `#session?loop=…&turn=…&call=…&tab=…`. A link leads to the same view. */
export interface Address {
  sessionId?: string
  selection?: Selection
  tab?: InspectorTab
}

export function readAddress(hash: string): Address {
  const [id = '', query = ''] = hash.replace(/^#/, '').split('?', 2)
  const fields = new URLSearchParams(query)
  const [loopId, turn, toolCallId, tab] = ['loop', 'turn', 'call', 'tab'].map((name) => fields.get(name) ?? undefined)
  const turnIndex = Number(turn)
  return {
    ...(id !== '' && { sessionId: decoded(id) }),
    ...(loopId !== undefined &&
      Number.isSafeInteger(turnIndex) && { selection: { loopId, turnIndex, ...(toolCallId !== undefined && { toolCallId }) } }),
    ...(isTab(tab) && { tab }),
  }
}

function writeAddress({ sessionId = '', selection, tab }: Address): string {
  const fields = new URLSearchParams()
  if (selection !== undefined) {
    fields.set('loop', selection.loopId)
    fields.set('turn', String(selection.turnIndex))
    if (selection.toolCallId !== undefined) fields.set('call', selection.toolCallId)
  }
  if (tab !== undefined && tab !== 'trace') fields.set('tab', tab)
  const query = fields.toString()
  return `#${encodeURIComponent(sessionId)}${query === '' ? '' : `?${query}`}`
}

/** Marks history entries whose URL this page wrote. */
const mark = 'phi-playground'

/** Returns whether this page wrote the current URL for a conversation. Otherwise, the user followed a link. */
export function isOwnAddress(sessionId: string): boolean {
  return Object(history.state)[mark] === sessionId
}

/** WebKit throws after a hundred URL changes in ten seconds. The URL then stays unchanged. */
function writeTo(how: 'pushState' | 'replaceState', address: Address): void {
  try {
    history[how]({ [mark]: address.sessionId }, '', writeAddress(address))
  } catch {
    // The next change writes the complete URL.
  }
}

function isTab(name: string | undefined): name is InspectorTab {
  return inspectorTabs.some((tab) => tab === name)
}

/** A foreign link may contain an invalid URI component. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The page's selection. */
export interface SelectionState {
  /** Absent if the newest turn is shown. */
  selection: ReadonlySignal<Selection | undefined>
  tab: ReadonlySignal<InspectorTab>
  /** Shows a turn or a call in all panes, or follows the newest turn again for `undefined`. */
  select(selection: Selection | undefined, tab?: InspectorTab): void
  showTab(tab: InspectorTab): void
  /** Another conversation adds a history entry. */
  moveTo(sessionId: string): void
}

/** Writes the selection to the URL, and follows navigation and pasted links. */
export function createSelection(onSession: (sessionId: string) => void): SelectionState {
  let address = readAddress(location.hash)
  const selection = signal(address.selection)
  const tab = signal<InspectorTab>(address.tab ?? 'trace')

  function replace(): void {
    address = { ...(address.sessionId !== undefined && { sessionId: address.sessionId }), tab: tab.value }
    if (selection.value !== undefined) address.selection = selection.value
    writeTo('replaceState', address)
  }

  addEventListener('hashchange', () => {
    const next = readAddress(location.hash)
    const isOther = next.sessionId !== address.sessionId
    address = next
    selection.value = next.selection
    tab.value = next.tab ?? tab.value
    if (isOther && next.sessionId !== undefined) onSession(next.sessionId)
  })

  return {
    selection,
    tab,
    select(next, nextTab) {
      selection.value = next
      if (nextTab !== undefined) tab.value = nextTab
      replace()
    },
    showTab(next) {
      tab.value = next
      replace()
    },
    moveTo(sessionId) {
      if (address.sessionId === sessionId) return
      const isFirst = address.sessionId === undefined
      address = { sessionId, tab: tab.value }
      selection.value = undefined
      writeTo(isFirst ? 'replaceState' : 'pushState', address)
    },
  }
}

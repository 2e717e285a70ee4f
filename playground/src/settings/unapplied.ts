import type { Notices } from '../state/notices/notices.ts'
import { keepInTab, textOfTab } from '../state/tab-storage.ts'

/** Returns the unapplied changes in the tab's storage, or `undefined`. */
export const keptChanges = (): string | undefined => textOfTab(place)

/** Stores them per tab, because every tab has its own changes. They contain no keys. */
export const keepChanges = (text: string | undefined): void => keepInTab(place, text)

/** Notifies the user of unapplied changes. */
export function tellOfChanges(notices: Notices): void {
  notices.dismiss('unapplied')
  if (keptChanges() === undefined) return
  const text = 'You have settings changes that are not applied yet. Agents still use the old settings.'
  notices.tell({ topic: 'unapplied', kind: 'news', text, remedies: ['settings'] })
}

const place = 'phi-playground-unapplied'

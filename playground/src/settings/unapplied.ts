import type { Notices } from '../state/notices/notices.ts'
import { keepInTab, textOfTab } from '../state/tab-storage.ts'

/** Unapplied changes in the tab's storage; `undefined` without any. */
export const keptChanges = (): string | undefined => textOfTab(place)

/** Keeps it with the tab: another one has changes of its own. There is no key in it. */
export const keepChanges = (text: string | undefined): void => keepInTab(place, text)

/** Reports unapplied changes. */
export function tellOfChanges(notices: Notices): void {
  notices.dismiss('unapplied')
  if (keptChanges() === undefined) return
  const text = 'You have changed the settings, and not applied that yet: agents are as before.'
  notices.tell({ topic: 'unapplied', kind: 'news', text, remedies: ['settings'] })
}

const place = 'phi-playground-unapplied'

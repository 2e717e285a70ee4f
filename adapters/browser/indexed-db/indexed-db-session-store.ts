import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, aText, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../src/index.ts'
import { logSessionStore } from '../../../src/session.ts'
import { claimWatch, lockedSessions } from './claim-watch.ts'
import { indexedDbDriver } from './indexed-db-driver.ts'

/** Options for `indexedDbSessionStore`: the database, and callbacks for other tabs. */
export interface IndexedDbSessionOptions {
  /** The database's name. Default: `phi-core`. */
  name?: string
  /**
   * Called once each time another tab takes over or deletes a session that this store writes to. Later appends here reject.
   */
  onTakenOver?: (sessionId: string) => void
  /**
   * Called when another tab has created, opened, closed or deleted a session, which can make lists outdated. Not called when a tab crashes.
   */
  onChange?: (sessionId: string) => void
}

/** A `SessionStore` that several tabs share. */
export interface IndexedDbSessionStore extends SessionStore {
  /** Returns the ids of the sessions that open tabs and workers write to, including this one. Empty without Web Locks. */
  openIds(): Promise<string[]>
}

const storeOptions = optionsOf<IndexedDbSessionOptions>({ name: aText, onTakenOver: aFunction, onChange: aFunction })

/**
 * Creates a session store in IndexedDB, for web pages and workers of this origin.
 *
 * **Contract**
 * - `open` takes a session over from another tab without waiting. The other tab gets `onTakenOver`, and its next append rejects
 *   with `conflict`. A crashed tab blocks nothing.
 * - Transactions are `strict`: an acknowledged record survives a crash of the tab or browser and a power failure. The browser may still
 *   delete a site's data if the disk is full or the user requests it. Safari deletes it after 7 days without a visit.
 *   `navigator.storage.persist()` prevents this.
 * - Rejects with `quota` if the site has no more room, and with `io` without IndexedDB. Creating a store opens nothing, so it is safe
 *   during server-side rendering.
 * - Listeners must not throw.
 *
 * Source: docs/concepts/sessions.md
 */
export function indexedDbSessionStore(options: IndexedDbSessionOptions = {}): IndexedDbSessionStore {
  checkOptions(options, storeOptions)
  const { name = 'phi-core', onTakenOver, onChange } = options
  const driver = indexedDbDriver(name, claimWatch(name, { onTakenOver, onChange }))
  return Object.assign(logSessionStore(driver), { openIds: () => lockedSessions(name) })
}

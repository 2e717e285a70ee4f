import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, aText, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../src/index.ts'
import { logSessionStore } from '../../../src/session.ts'
import { claimWatch, lockedSessions } from './claim-watch.ts'
import { indexedDbDriver } from './indexed-db-driver.ts'

/** How sessions are kept in a browser. */
export interface IndexedDbSessionOptions {
  /** Name of the database. Default `phi-core`. */
  name?: string
  /** A session that this store was writing is now written, or was deleted, by another tab: what is appended here is refused. Called once each time. */
  onTakenOver?: (sessionId: string) => void
  /** Another tab has opened, begun, closed or deleted a session: lists may be old. A tab that crashes says nothing. */
  onChange?: (sessionId: string) => void
}

/** A `SessionStore` that several tabs share. */
export interface IndexedDbSessionStore extends SessionStore {
  /** Ids of the sessions that a living tab or worker writes to, this one included. Empty where there are no Web Locks. */
  openIds(): Promise<string[]>
}

const storeOptions = optionsOf<IndexedDbSessionOptions>({ name: aText, onTakenOver: aFunction, onChange: aFunction })

/**
 * Sessions in the IndexedDB of this origin, for pages and workers.
 *
 * **Contract**
 * - `open` takes a session over from another tab and waits for nobody; the other tab is told through `onTakenOver`, and its next append rejects
 *   with `conflict`. A tab that has crashed stands in nobody's way.
 * - Transactions are `strict`: an acknowledged record survives the end of the tab, of the browser and of the power. The browser may still delete
 *   everything of a site, when the disk is full or a person asks for it; Safari does after 7 days without a visit.
 *   `navigator.storage.persist()` asks it not to.
 * - Rejects with `quota` when the site has no more room, and with `io` where there is no IndexedDB. Making a store touches nothing, so that it may
 *   be done while a page is rendered on a server.
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

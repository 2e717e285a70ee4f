/**
 * What only browsers have: sessions in IndexedDB, and files in the origin private file system.
 *
 * @example
 * ```ts
 * const store = indexedDbSessionStore({ onTakenOver: () => showNotice('This conversation goes on in another tab.') })
 * const agent = new Agent({ model, session: store })
 * ```
 */
export { type IndexedDbSessionOptions, type IndexedDbSessionStore, indexedDbSessionStore } from './indexed-db/indexed-db-session-store.ts'
export { type OpfsWorkspaceOptions, opfsWorkspace } from './opfs/opfs-workspace.ts'

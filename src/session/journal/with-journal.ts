import type { SessionStore } from '../../types/session/session-store.ts'

/** The store with a journal of its own, and what else is `added`; in everything else `store` itself, also where it is a class. */
export function withJournal<Store extends SessionStore>(store: Store, journal: SessionStore['journal']): Store
export function withJournal<Store extends SessionStore, Added extends object>(
  store: Store,
  journal: SessionStore['journal'],
  added: Added,
): Store & Added
export function withJournal<Store extends SessionStore>(store: Store, journal: SessionStore['journal'], added: object = {}): Store {
  // A copy would have no methods of a class, and private fields are read from the store alone.
  return new Proxy(store, {
    get(target, name) {
      if (name === 'journal') return journal
      if (Object.hasOwn(added, name)) return Reflect.get(added, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

import type { SessionStore } from '../../types/session/session-store.ts'

/** The store with a journal of its own; in everything else `store` itself, also where it is a class. */
export function withJournal<Store extends SessionStore>(store: Store, journal: SessionStore['journal']): Store {
  // A copy would have no methods of a class, and private fields are read from the store alone.
  return new Proxy(store, {
    get(target, name) {
      if (name === 'journal') return journal
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

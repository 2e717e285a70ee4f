import { errorText, PhiError } from '../../src/contract/errors.ts'
import type { SessionStore } from '../../src/types/session/session-store.ts'

/** Options of `sessionStoreSuite`: the store to test, and how to damage it. */
export interface SessionStoreSuiteOptions {
  /** Name of the group of tests. */
  name: string
  /** Creates a new, empty store. Called once per test. */
  create: () => SessionStore | Promise<SessionStore>
  /** Opens the same sessions from another tab, process or isolate. Default: the store itself. */
  another?: (store: SessionStore) => SessionStore | Promise<SessionStore>
  /** Resolves when all readers see earlier writes. Called only for promises that are `eventual`. */
  settle?: () => Promise<void>
  /**
   * Replaces the lines of a session in the last created store with the result of `how`, in the order of epoch and writing.
   * Default: damaged logs are not tested.
   */
  damage?: (sessionId: string, how: (lines: string[]) => string[]) => Promise<void>
}

/** A store, and the same sessions as others have them. */
export interface StoresUnderTest {
  store: SessionStore
  other: SessionStore
  /** Waits until `other` sees what was written, where `store` does not promise that it does at once. */
  written: () => Promise<void>
  /** The same for lists. */
  listed: () => Promise<void>
}

export async function storesOf({ create, another, settle }: SessionStoreSuiteOptions): Promise<StoresUnderTest> {
  const store = await create()
  const settled = async (what: 'readAfterWrite' | 'list') => {
    if (store.promises[what] === 'eventual') await settle?.()
  }
  const other = another === undefined ? store : await another(store)
  return { store, other, written: () => settled('readAfterWrite'), listed: () => settled('list') }
}

/** The code a call is refused with, or `fulfilled`. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fulfilled'
  } catch (error) {
    return PhiError.isInstance(error) && error.name === 'SessionError' ? error.code : `no SessionError: ${errorText(error)}`
  }
}

/** Advances the clock: file systems store times in steps of some milliseconds, and order is unspecified within one. */
export function clockStep(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 20)
  })
}

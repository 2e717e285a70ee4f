import { errorText, PhiError } from '../../src/contract/errors.ts'
import type { SessionStore } from '../../src/types/session/session-store.ts'

/** Options for `sessionStoreSuite`: the store to test, and how to damage it. */
export interface SessionStoreSuiteOptions {
  /** The test group's name. */
  name: string
  /** Creates a new, empty store. Called once per test. */
  create: () => SessionStore | Promise<SessionStore>
  /** Opens the same sessions from another tab, process or isolate. Default: the store itself. */
  another?: (store: SessionStore) => SessionStore | Promise<SessionStore>
  /** Resolves when all readers see earlier writes. Called only if a promise is `eventual`. */
  settle?: () => Promise<void>
  /**
   * Replaces the lines of a session in the last created store with the result of `how`, in the order of epochs and writes. Default: damaged
   * logs are not tested.
   */
  damage?: (sessionId: string, how: (lines: string[]) => string[]) => Promise<void>
}

/** A store, and another view of the same sessions. */
export interface StoresUnderTest {
  store: SessionStore
  other: SessionStore
  /** Waits until `other` sees earlier writes, if `store` does not guarantee this immediately. */
  written: () => Promise<void>
  /** Like `written`, for lists. */
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

/** Returns the error code of a call, or `fulfilled`. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fulfilled'
  } catch (error) {
    return PhiError.isInstance(error) && error.name === 'SessionError' ? error.code : `no SessionError: ${errorText(error)}`
  }
}

/**
 * Waits for the clock to advance. File systems store times with a resolution of a few milliseconds, within which the order is unspecified.
 */
export function clockStep(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 20)
  })
}

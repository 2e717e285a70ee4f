import type { SessionStore } from '../types/session-store.ts'
import { logSessionStore } from './log-session-store.ts'
import { memoryDriver } from './memory-driver.ts'

/** A `SessionStore` that lives as long as this object. What goes in and what comes out are copies. */
export function memorySessionStore(): SessionStore {
  return logSessionStore(memoryDriver())
}

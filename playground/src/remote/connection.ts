import { type ReadonlySignal, signal } from '@preact/signals'
import type { RemoteSessionOptions } from '../../../src/client.ts'

/** Label for a lost connection, during or after retries. It replaces the run's status, which is then unknown. */
export type LostConnection = 'Reconnecting' | 'Not connected'

/** A connection, and the session options that report its state. */
export interface WatchedConnection extends Required<Pick<RemoteSessionOptions, 'fetch' | 'logger'>> {
  /** `undefined` while connected. */
  state: ReadonlySignal<LostConnection | undefined>
}

/**
 * Derives the connection state from a session's requests. Any response means connected, and a session warning means disconnected.
 */
export function watchedConnection(): WatchedConnection {
  const state = signal<LostConnection | undefined>(undefined)
  return {
    state,
    async fetch(request) {
      const response = await fetch(request)
      state.value = undefined
      return response
    },
    logger: {
      warn(event) {
        if (event === 'connectionRetry') state.value = 'Reconnecting'
        if (event === 'sessionLost') state.value = 'Not connected'
      },
    },
  }
}

import { type ReadonlySignal, signal } from '@preact/signals'
import type { RemoteSessionOptions } from '../../../src/client.ts'

/** Label of a lost connection, during retries or after them. It replaces the status of the run, which is unknown then. */
export type LostConnection = 'Reconnecting' | 'Not connected'

/** A connection, and the options of the session that it is read from. */
export interface WatchedConnection extends Required<Pick<RemoteSessionOptions, 'fetch' | 'logger'>> {
  /** `undefined` while it is there. */
  state: ReadonlySignal<LostConnection | undefined>
}

/** Follows what the requests of a session bring: any response opens the connection, a warning of the session closes it. */
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

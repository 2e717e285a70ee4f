import { type ReadonlySignal, signal } from '@preact/signals'
import type { RemoteSessionOptions } from '../../../src/client/index.ts'

/** The connection to the server of a conversation: it is there, it is lost and tried again, or it was given up. */
export type Connection = 'open' | 'retrying' | 'lost'

/** A connection, and the options of the session that it is read from. */
export interface WatchedConnection extends Required<Pick<RemoteSessionOptions, 'fetch' | 'logger'>> {
  state: ReadonlySignal<Connection>
}

/** Follows what the requests of a session bring: any response opens the connection, a warning of the session closes it. */
export function watchedConnection(): WatchedConnection {
  const state = signal<Connection>('open')
  return {
    state,
    async fetch(request) {
      const response = await fetch(request)
      state.value = 'open'
      return response
    },
    logger: {
      warn(event) {
        if (event === 'connectionRetry') state.value = 'retrying'
        if (event === 'sessionLost') state.value = 'lost'
      },
    },
  }
}

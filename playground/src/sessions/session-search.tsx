import { type Signal, useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import type { AppState } from '../state/app/app-state.ts'
import { type Hit, searchSessions } from './search-sessions.ts'

/** Searches all conversations. `hits` is `undefined` without a query. */
export function SessionSearch({ appState, hits }: { appState: AppState; hits: Signal<readonly Hit[] | undefined> }) {
  const query = useSignal('')

  async function search(text: string): Promise<void> {
    query.value = text
    if (text.trim() === '') {
      hits.value = undefined
      return
    }
    await appState.notices.attempt({ topic: 'search', failure: 'Cannot search the conversations' }, async () => {
      for await (const found of searchSessions(appState.backend, text)) {
        // The user may have typed more in the meantime.
        if (query.value !== text) return
        hits.value = found
      }
    })
  }

  return (
    <label class="search-field">
      <Icon name="search" />
      <span class="visually-hidden">Search conversations</span>
      <input type="search" placeholder="Search" value={query.value} onInput={(event) => void search(event.currentTarget.value)} />
    </label>
  )
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { bytesOf, dateOf, plural } from '../parts/figures.ts'
import type { AppState } from '../state/app/app-state.ts'
import type { StoredSession } from '../state/backend/chat-port.ts'
import { askToPersist, type StorageFigures, storageFigures } from './storage.ts'

/** Shows how much is stored, and lets the user delete conversations, the least recently used first. */
export function StorageDialog({ appState, onClose }: { appState: AppState; onClose: () => void }) {
  const figures = useSignal<StorageFigures | undefined>(undefined)
  const all = useSignal<readonly StoredSession[]>([])
  const chosen = useSignal<ReadonlySet<string>>(new Set())

  async function look(): Promise<void> {
    figures.value = await storageFigures()
    const found = await appState.notices.attempt({ topic: 'list', failure: 'Cannot read the list of conversations' }, () =>
      appState.backend.list(Number.POSITIVE_INFINITY),
    )
    all.value = [...(found ?? [])].reverse()
  }
  useEffect(() => void look(), [])

  async function free(): Promise<void> {
    await appState.remove([...chosen.value])
    chosen.value = new Set()
    await look()
  }

  return (
    <Dialog label="Storage" class="storage" onClose={onClose}>
      <p data-testid="storage-figures">{textOf(figures.value, all.value.length)}</p>
      {figures.value?.isPersistent === false && (
        <button type="button" class="small" onClick={() => void askToPersist().then(look)}>
          Request persistent storage
        </button>
      )}
      <ul class="storage-list" aria-label="Conversations, least recently used first">
        {all.value.map(({ sessionId, title, lastActiveAt, loops }) => (
          <li key={sessionId}>
            <label class="check">
              <input
                type="checkbox"
                checked={chosen.value.has(sessionId)}
                onChange={({ currentTarget }) => {
                  const next = new Set(chosen.value)
                  if (currentTarget.checked) next.add(sessionId)
                  else next.delete(sessionId)
                  chosen.value = next
                }}
              />
              <span>
                {title || 'Conversation'} <span class="soft">{[dateOf(lastActiveAt), plural(loops, 'run')].join(' · ')}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
        <button type="button" class="danger" disabled={chosen.value.size === 0} onClick={() => void free()}>
          {chosen.value.size === 0 ? 'Delete' : `Delete ${plural(chosen.value.size, 'conversation')}`}
        </button>
      </div>
    </Dialog>
  )
}

function textOf(figures: StorageFigures | undefined, conversations: number): string {
  if (figures === undefined) return 'Counting…'
  const { used, allowed, isPersistent } = figures
  const room =
    used === undefined ? 'an unknown amount' : bytesOf(used) + (allowed === undefined ? '' : ` of ${bytesOf(allowed)} that it may use`)
  const promise = isPersistent ? 'The browser keeps it until you delete it.' : 'The browser may clear it when the disk is full.'
  return `${plural(conversations, 'conversation')}. This page uses ${room}, including files and the app. ${promise}`
}

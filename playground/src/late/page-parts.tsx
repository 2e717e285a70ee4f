import type { FunctionComponent } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { lazy } from './lazy.tsx'

// Parts of the page that load after the conversation. `conversation-parts.tsx` has those of a conversation.

/** Empty, as the opening has left it, until it is there. */
export const SessionsPane = lazy(async () => (await import('../sessions/sessions-pane.tsx')).SessionsPane, {
  waiting: null,
  frame: (content) => (
    <nav class="sessions" aria-label="Conversations">
      {content}
    </nav>
  ),
})

/** As the pane of conversations. */
export const Inspector = lazy(async () => (await import('../inspector/inspector.tsx')).Inspector, {
  waiting: null,
  frame: (content) => (
    <aside class="inspector" aria-label="Inspector">
      {content}
    </aside>
  ),
})

export const SettingsDialog = lazyDialog(async () => (await import('../settings/settings-dialog.tsx')).SettingsDialog)
export const StorageDialog = lazyDialog(async () => (await import('../sessions/storage-dialog.tsx')).StorageDialog)
export const CompareDialog = lazyDialog(async () => (await import('../compare/compare-dialog.tsx')).CompareDialog)
export const Palette = lazyDialog(async () => (await import('../palette/palette.tsx')).Palette)
export const KeyHelp = lazyDialog(async () => (await import('../palette/key-help.tsx')).KeyHelp)

/** So that none of them is waited for. */
export function loadDialogs(): void {
  for (const dialog of [Palette, KeyHelp, SettingsDialog, StorageDialog, CompareDialog]) void dialog.load()
}

/** A dialog also while it is on its way: what is typed does not reach the page behind it. */
function lazyDialog<Props extends { onClose: () => void }>(load: () => Promise<FunctionComponent<Props>>) {
  return lazy(load, {
    frame: (content, { onClose }) => (
      <Dialog label="One moment" onClose={onClose}>
        {content}
        <div class="dialog-actions">
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    ),
  })
}

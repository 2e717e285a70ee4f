import type { FunctionComponent } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { lazy } from './lazy.tsx'

// Parts of the page that load after the conversation. `conversation-parts.tsx` has the parts for a conversation.

/** Empty until it has loaded, as in the opening. */
export const SessionsPane = lazy(async () => (await import('../sessions/sessions-pane.tsx')).SessionsPane, {
  waiting: null,
  frame: (content) => (
    <nav class="sessions" aria-label="Conversations">
      {content}
    </nav>
  ),
})

/** Like the conversations pane. */
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

/** Preloads them, so that users do not wait for any. */
export function loadDialogs(): void {
  for (const dialog of [Palette, KeyHelp, SettingsDialog, StorageDialog, CompareDialog]) void dialog.load()
}

/** A dialog even while its content loads, so that key presses do not reach the page behind it. */
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

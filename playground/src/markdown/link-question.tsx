import { useSignal } from '@preact/signals'
import { type ComponentChildren, Fragment } from 'preact'
import { escapeControls } from '../../../src/store.ts'
import { Dialog } from '../parts/dialog.tsx'

/** Prompts the user before the browser follows a link in `children`. Shows the URL, because it can leak data. */
export function LinkQuestion({ children }: { children: ComponentChildren }) {
  const address = useSignal<string | undefined>(undefined)

  function stop(event: MouseEvent): void {
    const link = event.target instanceof Element ? event.target.closest('a.external') : null
    if (!(link instanceof HTMLAnchorElement)) return
    event.preventDefault()
    address.value = link.href
  }

  function follow(): void {
    open(address.value, '_blank', 'noopener,noreferrer')
    address.value = undefined
  }

  return (
    <Fragment>
      {/* biome-ignore lint/a11y: the links within are what is clicked. */}
      <div class="link-watch" onClick={stop} onAuxClick={stop}>
        {children}
      </div>
      {address.value !== undefined && (
        <Dialog label="Leave the playground?" onClose={() => (address.value = undefined)}>
          <p>The model wrote this URL. Its server receives everything in it.</p>
          <pre class="address">{escapeControls(address.value)}</pre>
          <div class="dialog-actions">
            <button type="button" onClick={() => (address.value = undefined)}>
              Stay
            </button>
            <button type="button" class="primary" onClick={follow}>
              Open in a new tab
            </button>
          </div>
        </Dialog>
      )}
    </Fragment>
  )
}

import { useSignal } from '@preact/signals'
import { Icon } from './icon.tsx'

/** Copies what `text` gives, and says that it did. */
export function CopyButton({ label, text, children }: { label: string; text: () => string; children?: string }) {
  const state = useSignal<'ready' | 'done' | 'failed'>('ready')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      state.value = 'done'
    } catch {
      // No permission, or no secure context.
      state.value = 'failed'
    }
    setTimeout(() => (state.value = 'ready'), 1500)
  }
  const said = { ready: label, done: 'Copied', failed: 'Could not copy' }[state.value]
  return (
    <button
      type="button"
      class={children === undefined ? 'icon-button' : 'small'}
      aria-label={said}
      title={said}
      onClick={() => void copy()}
    >
      <Icon name={state.value === 'done' ? 'check' : state.value === 'failed' ? 'close' : 'copy'} />
      {children}
    </button>
  )
}

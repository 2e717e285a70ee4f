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
    setTimeout(() => (state.value = 'ready'), state.value === 'done' ? 1500 : 6000)
  }
  const said = { ready: label, done: 'Copied', failed: 'The browser refused to copy: select the text' }[state.value]
  return (
    <button
      type="button"
      class={children === undefined && state.value !== 'failed' ? 'icon-button' : 'small'}
      aria-label={said}
      title={said}
      onClick={() => void copy()}
    >
      <Icon name={state.value === 'done' ? 'check' : state.value === 'failed' ? 'close' : 'copy'} />
      {state.value === 'failed' ? said : children}
    </button>
  )
}

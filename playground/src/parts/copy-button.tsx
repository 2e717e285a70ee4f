import { useSignal } from '@preact/signals'
import { Icon } from './icon.tsx'

/** Copies the text that `text` returns, and shows the outcome. */
export function CopyButton({ label, text, children }: { label: string; text: () => string; children?: string }) {
  const state = useSignal<'ready' | 'done' | 'failed'>('ready')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text())
      state.value = 'done'
    } catch {
      // The page lacks the permission or a secure context.
      state.value = 'failed'
    }
    setTimeout(() => (state.value = 'ready'), state.value === 'done' ? 1500 : 6000)
  }
  const status = { ready: label, done: 'Copied', failed: 'The browser blocked copying: select the text' }[state.value]
  return (
    <button
      type="button"
      class={children === undefined && state.value !== 'failed' ? 'icon-button' : 'small'}
      aria-label={status}
      title={status}
      onClick={() => void copy()}
    >
      <Icon name={state.value === 'done' ? 'check' : state.value === 'failed' ? 'close' : 'copy'} />
      {state.value === 'failed' ? status : children}
    </button>
  )
}

import { useSignal } from '@preact/signals'

/** Light, dark, or what the system prefers. Not remembered: the page stores conversations and nothing else. */
export function ThemeToggle() {
  const isDark = useSignal(matchMedia('(prefers-color-scheme: dark)').matches)
  const toggle = () => {
    isDark.value = !isDark.value
    document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light'
  }
  return (
    <button type="button" class="quiet" aria-pressed={isDark.value} aria-label="Dark theme" onClick={toggle}>
      {isDark.value ? '☾' : '☀'}
    </button>
  )
}

import { signal } from '@preact/signals'

/** Light, dark, or what the system prefers. Not remembered: the page stores conversations and nothing else. */
export const isDark = signal(matchMedia('(prefers-color-scheme: dark)').matches)

export function toggleTheme(): void {
  isDark.value = !isDark.value
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light'
}

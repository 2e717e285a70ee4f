import { signal } from '@preact/signals'

const preference = matchMedia('(prefers-color-scheme: dark)')

/** Light, dark or the system's theme. Not stored, because the page stores only conversations. */
export const isDark = signal(preference.matches)

// By default, the page follows the system, which may change over time.
preference.addEventListener('change', ({ matches }) => {
  if (document.documentElement.dataset.theme === undefined) isDark.value = matches
})

export function toggleTheme(): void {
  isDark.value = !isDark.value
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light'
}

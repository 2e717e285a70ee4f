import { signal } from '@preact/signals'

const preference = matchMedia('(prefers-color-scheme: dark)')

/** Light, dark, or what the system prefers. Not remembered: the page stores conversations and nothing else. */
export const isDark = signal(preference.matches)

// Until somebody chooses, the page goes with the system, which may turn dark in the evening.
preference.addEventListener('change', ({ matches }) => {
  if (document.documentElement.dataset.theme === undefined) isDark.value = matches
})

export function toggleTheme(): void {
  isDark.value = !isDark.value
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light'
}

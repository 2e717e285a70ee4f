import { IconButton } from '../parts/icon-button.tsx'
import { isDark, toggleTheme } from '../state/theme.ts'

export function ThemeToggle() {
  return <IconButton icon={isDark.value ? 'moon' : 'sun'} label="Dark theme" isPressed={isDark.value} onClick={toggleTheme} />
}

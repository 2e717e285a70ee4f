import type { Ref } from 'preact'
import { Icon, type IconName } from './icon.tsx'

interface IconButtonProps {
  icon: IconName
  label: string
  onClick: (event: MouseEvent) => void
  isDisabled?: boolean
  isPressed?: boolean
  buttonRef?: Ref<HTMLButtonElement>
}

/** A small button without text. Its label is also its tooltip. */
export function IconButton({ icon, label, onClick, isDisabled = false, isPressed, buttonRef }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      disabled={isDisabled}
      onClick={onClick}
      ref={buttonRef ?? null}
    >
      <Icon name={icon} />
    </button>
  )
}

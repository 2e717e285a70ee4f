import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  label: string
  onClose: () => void
  class?: string
  children: ComponentChildren
}

/** A modal dialog. Escape and a click outside close it and restore the focus. */
export function Dialog({ label, onClose, class: name = '', children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      // If the browser closed it, the focus was already restored and may have moved on.
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (isLost && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it too.
    <dialog
      ref={dialog}
      class={`dialog ${name}`}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <div class="dialog-body">
        <h2 class="dialog-title">{label}</h2>
        {children}
      </div>
    </dialog>
  )
}

import { useSignal } from '@preact/signals'
import { isComposing } from '../palette/composing.ts'
import '../styles/fields.css'

interface RenameSessionProps {
  title: string
  onRename: (title: string) => void
  onCancel: () => void
}

/** Renames a conversation. */
export function RenameSession({ title, onRename, onCancel }: RenameSessionProps) {
  const name = useSignal(title)
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.value.trim() !== '') onRename(name.value.trim())
      }}
    >
      <input
        type="text"
        aria-label="Name of the conversation"
        maxLength={100}
        value={name.value}
        ref={begin}
        onInput={(event) => (name.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || isComposing(event)) return
          event.stopPropagation()
          onCancel()
        }}
      />
      <button type="submit" class="small">
        Rename
      </button>
    </form>
  )
}

/** Selects the old name, so that the user can replace it by typing. */
function begin(field: HTMLInputElement | null): void {
  if (field === null || field === document.activeElement) return
  field.focus()
  field.select()
}

import { useSignal } from '@preact/signals'

interface EditMessageProps {
  text: string
  onSend: (text: string) => void
  onCancel: () => void
}

/** Says something else instead of what was said: everything after it leaves the conversation, and stays in the tree. */
export function EditMessage({ text, onSend, onCancel }: EditMessageProps) {
  const draft = useSignal(text)
  const send = () => {
    if (draft.value.trim() === '') return
    onCancel()
    onSend(draft.value.trim())
  }
  return (
    <form
      class="edit-message"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        rows={3}
        aria-label="Edited message"
        value={draft.value}
        ref={(field) => field?.focus()}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            send()
          }
          event.stopPropagation()
        }}
      />
      <div class="edit-actions">
        <button type="button" class="small" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="small primary">
          Send instead
        </button>
      </div>
    </form>
  )
}

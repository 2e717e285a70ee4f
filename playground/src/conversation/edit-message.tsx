import { useSignal } from '@preact/signals'
import { isComposing } from '../palette/composing.ts'

interface EditMessageProps {
  text: string
  /** Resolves with whether it was heard: then the field closes. */
  onSend: (text: string) => Promise<boolean>
  onCancel: () => void
}

/** Says something else instead of what was said: everything after it leaves the conversation, and stays in the tree. */
export function EditMessage({ text, onSend, onCancel }: EditMessageProps) {
  const draft = useSignal(text)
  const isSending = useSignal(false)
  const send = async () => {
    if (draft.value.trim() === '' || isSending.value) return
    isSending.value = true
    const isHeard = await onSend(draft.value.trim())
    isSending.value = false
    if (isHeard) onCancel()
  }
  return (
    <form
      class="edit-message"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <textarea
        rows={3}
        aria-label="Edited message"
        value={draft.value}
        readOnly={isSending.value}
        ref={(field) => field?.focus()}
        onInput={(event) => (draft.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !isComposing(event)) onCancel()
          if (event.key === 'Enter' && !event.shiftKey && !isComposing(event)) {
            event.preventDefault()
            void send()
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

import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { isComposing } from '../palette/composing.ts'

interface EditMessageProps {
  /** Owned by the conversation, because the field may leave the page and return. Without a value, nothing is edited. */
  draft: Signal<string | undefined>
  /** Resolves with whether it was heard: then the field closes. */
  onSend: (text: string) => Promise<boolean>
}

/** Replaces a message: later messages leave the conversation, and stay in the tree. */
export function EditMessage({ draft, onSend }: EditMessageProps) {
  const isSending = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus({ preventScroll: true }), [])
  const onCancel = () => {
    draft.value = undefined
  }
  const send = async () => {
    const text = draft.value?.trim() ?? ''
    if (text === '' || isSending.value) return
    isSending.value = true
    const isHeard = await onSend(text)
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
        ref={field}
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

import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Content, textOf } from '../../../src/index.ts'
import { isComposing } from '../palette/composing.ts'

interface EditMessageProps {
  /** Owned by the conversation, because the field may be removed from the page and rendered again. No value if nothing is being edited. */
  draft: Signal<string | undefined>
  /** The message's content. */
  content: readonly Content[]
  /** Resolves with whether the edit was delivered. If so, the field closes. */
  onSend: (text: string) => Promise<boolean>
}

/** Replaces a message. Later messages leave the conversation but stay in the tree. */
export function EditMessage({ draft, content, onSend }: EditMessageProps) {
  const isSending = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (draft.value === textOf(content)) draft.value = typedIn(content)
    field.current?.focus({ preventScroll: true })
  }, [])
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

/** A message's text without the resources that its mentions have attached. Sending attaches them again. */
function typedIn(content: readonly Content[]): string {
  const texts = content.filter((block) => block.type === 'text')
  return textOf(texts[1]?.text.startsWith('[resource ') === true ? texts.slice(0, 1) : texts)
}

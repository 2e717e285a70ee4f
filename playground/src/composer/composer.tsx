import { isComposing } from '../palette/composing.ts'
import { Icon } from '../parts/icon.tsx'
import { keepPlace } from '../parts/keep-place.ts'
import type { Conversation } from '../state/conversation/conversation.ts'
import { attach } from './attach.ts'
import { AttachButton } from './attach-button.tsx'
import { AttachedFiles } from './attached-files.tsx'
import { MessageQueue } from './message-queue.tsx'

interface ComposerProps {
  conversation: Conversation
  isRunning: boolean
  isDisabled: boolean
}

/** Longer pastes become files, because a very long text field is slow. */
const longPaste = 200_000

/** The input. Enter sends, or steers during a run. Alt+Enter queues. Escape stops (see `palette/keys.ts`). */
export function Composer({ conversation, isRunning, isDisabled }: ComposerProps) {
  const { draft, queued, withdraw, isSending } = conversation
  const { Suggestions } = conversation.chat.mentions ?? {}
  const submit = (isLater: boolean) => void conversation.submit(isLater ? 'followUp' : 'steer')

  function onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])]
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (files.length === 0 && text.length > longPaste) files.push(new File([text], 'pasted.txt', { type: 'text/plain' }))
    if (files.length === 0) return
    event.preventDefault()
    void attach(draft, files)
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return
    event.preventDefault()
    submit(event.altKey)
  }

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    submit(false)
  }

  return (
    <form class="composer" onSubmit={onSubmit}>
      <MessageQueue
        queued={queued.value}
        onWithdraw={withdraw && ((message) => void withdraw(message))}
        onEdit={
          withdraw &&
          (async (message) => {
            if (await withdraw(message)) draft.giveBack(message.text, message.media)
          })
        }
      />
      <AttachedFiles draft={draft} />
      {!draft.isKept.value && (
        <p class="warning" role="status">
          Your draft is lost when this page closes: the browser has no space for it, or blocks storage.
        </p>
      )}
      <div class="composer-box">
        {Suggestions && <Suggestions />}
        <textarea
          rows={2}
          id="composer"
          aria-label="Message"
          placeholder={!isRunning ? 'Write to the agent…' : isDisabled ? 'Several responses are in progress…' : 'Steer the running agent…'}
          value={draft.text.value}
          disabled={isDisabled}
          readOnly={isSending.value}
          aria-busy={isSending.value}
          onInput={(event) => (draft.text.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div class="composer-row">
          <AttachButton isDisabled={isDisabled} onPick={(files) => void attach(draft, files)} />
          <p class="keys">
            {isSending.value ? (
              <>
                Sending…{navigator.onLine ? '' : ' This device is offline.'} <kbd>Esc</kbd> takes it back
              </>
            ) : isRunning && !isDisabled ? (
              <>
                <kbd>Enter</kbd> steers · <kbd>Alt</kbd> <kbd>Enter</kbd> follows up · <kbd>Esc</kbd> stops
              </>
            ) : (
              <>
                <kbd>Enter</kbd> sends · <kbd>Shift</kbd> <kbd>Enter</kbd> new line · <kbd>?</kbd> all keys
              </>
            )}
          </p>
          {isRunning && (
            <>
              {!isDisabled && (
                <button type="button" class="small" onClick={() => submit(true)}>
                  Follow up
                </button>
              )}
              <button type="button" class="small" onClick={keepPlace(() => conversation.abort())}>
                <Icon name="stop" />
                Stop
              </button>
            </>
          )}
          {isSending.value && !isRunning && (
            <button type="button" class="small take-back" onClick={() => conversation.abort()}>
              Take it back
            </button>
          )}
          <button type="submit" class="small primary" disabled={isDisabled || isSending.value}>
            <Icon name="send" />
            {isRunning ? 'Steer' : 'Send'}
          </button>
        </div>
      </div>
    </form>
  )
}

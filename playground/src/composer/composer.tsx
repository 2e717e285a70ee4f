import { Icon } from '../parts/icon.tsx'
import type { Conversation } from '../state/session.ts'
import { attach } from './attach.ts'
import { AttachButton } from './attach-button.tsx'
import { AttachedFiles } from './attached-files.tsx'
import { MessageQueue } from './message-queue.tsx'

interface ComposerProps {
  conversation: Conversation
  isRunning: boolean
  isDisabled: boolean
}

/** Where a person writes: Enter sends, or steers while the agent runs; Alt+Enter asks for later; Escape stops (see `palette/keys.ts`). */
export function Composer({ conversation, isRunning, isDisabled }: ComposerProps) {
  const { draft, attached, refused, queued, withdraw } = conversation

  function submit(isLater: boolean): void {
    const text = draft.value.trim()
    const media = attached.value
    if (text === '' && media.length === 0) return
    try {
      if (isLater) conversation.followUp(text, media)
      else conversation.send(text, media)
    } catch (error) {
      // Nothing was sent: a file is not what it says, or a run began meanwhile.
      refused.value = [error instanceof Error ? error.message : String(error)]
      return
    }
    draft.value = ''
    attached.value = []
    refused.value = []
  }

  function onPaste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])]
    if (files.length === 0) return
    event.preventDefault()
    void attach(conversation, files)
  }

  function onKeyDown(event: KeyboardEvent): void {
    // Enter that ends the composition of a character (Japanese, Chinese, …) is not a send.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
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
            if (!(await withdraw(message))) return
            draft.value = message.text
            attached.value = [...message.media, ...attached.value]
          })
        }
      />
      <AttachedFiles conversation={conversation} />
      <div class="composer-box">
        <textarea
          rows={2}
          id="composer"
          aria-label="Message"
          placeholder={
            !isRunning ? 'Write to the agent…' : isDisabled ? 'Several answers are written at once…' : 'Steer the running agent…'
          }
          value={draft.value}
          disabled={isDisabled}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div class="composer-row">
          <AttachButton isDisabled={isDisabled} onPick={(files) => void attach(conversation, files)} />
          <p class="keys">
            {isRunning && !isDisabled ? (
              <>
                <kbd>Enter</kbd> steers · <kbd>Alt</kbd> <kbd>Enter</kbd> asks afterwards · <kbd>Esc</kbd> stops
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
              <button type="button" class="small" onClick={() => conversation.abort()}>
                <Icon name="stop" />
                Stop
              </button>
            </>
          )}
          <button type="submit" class="small primary" disabled={isDisabled}>
            <Icon name="send" />
            {isRunning ? 'Steer' : 'Send'}
          </button>
        </div>
      </div>
    </form>
  )
}

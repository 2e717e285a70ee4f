import { Icon } from '../parts/icon.tsx'
import type { Conversation } from '../state/session.ts'
import { MessageQueue } from './message-queue.tsx'

interface ComposerProps {
  conversation: Conversation
  isRunning: boolean
  isDisabled: boolean
}

/** Where a person writes: Enter sends, or steers while the agent runs; Alt+Enter asks for later; Escape stops (see `palette/keys.ts`). */
export function Composer({ conversation, isRunning, isDisabled }: ComposerProps) {
  const { draft, queued, withdraw } = conversation

  function submit(isLater: boolean): void {
    const text = draft.value.trim()
    if (text === '') return
    draft.value = ''
    if (isLater) conversation.followUp(text)
    else conversation.send(text)
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
            if (await withdraw(message)) draft.value = message.text
          })
        }
      />
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
        />
        <div class="composer-row">
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

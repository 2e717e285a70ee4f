import type { Session } from '../session.ts'

/** Where a person writes: Enter sends, or steers while the agent runs; Alt+Enter asks for later; Escape stops (see `App`). */
export function Composer({ session, isRunning, isDisabled }: { session: Session; isRunning: boolean; isDisabled: boolean }) {
  const { draft, queued } = session

  function submit(isLater: boolean): void {
    const text = draft.value.trim()
    if (text === '') return
    draft.value = ''
    if (isLater) session.followUp(text)
    else session.send(text)
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
      {queued.value.length > 0 && (
        <ul class="queued" aria-label="Queued messages">
          {queued.value.map((entry) => (
            <li key={entry.id}>
              <span class="badge">{entry.kind === 'steer' ? 'steering' : 'follow-up'}</span> {entry.text}
            </li>
          ))}
        </ul>
      )}
      <div class="composer-row">
        <textarea
          rows={2}
          aria-label="Message"
          placeholder={isRunning ? 'Steer the running agent…' : 'Write to the agent…'}
          value={draft.value}
          disabled={isDisabled}
          onInput={(event) => (draft.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="submit" class="primary" disabled={isDisabled}>
          {isRunning ? 'Steer' : 'Send'}
        </button>
        {isRunning && (
          <button type="button" onClick={() => session.abort()}>
            Stop
          </button>
        )}
      </div>
      <p class="keys">
        {isRunning ? (
          <>
            <kbd>Enter</kbd> steers · <kbd>Alt</kbd>+<kbd>Enter</kbd> asks afterwards · <kbd>Esc</kbd> stops
          </>
        ) : (
          <>
            <kbd>Enter</kbd> sends · <kbd>Shift</kbd>+<kbd>Enter</kbd> new line
          </>
        )}
      </p>
    </form>
  )
}

import type { Desk } from '../state/desk/desk.ts'

/** Says that another tab has gone on with the conversation, or has deleted it, and what can be done here. */
export function InterferenceNotice({ desk }: { desk: Desk }) {
  const kind = desk.interference.value
  if (kind === undefined) return null
  return (
    <div class="interference" role="alert" data-testid="interference">
      {kind === 'continued' ? (
        <>
          <p>This conversation goes on in another tab.</p>
          <button type="button" class="primary" onClick={() => void desk.takeOver()}>
            Go on here
          </button>
        </>
      ) : (
        <>
          <p>Another tab has deleted this conversation.</p>
          <button type="button" class="primary" onClick={() => desk.create()}>
            New conversation
          </button>
        </>
      )}
    </div>
  )
}

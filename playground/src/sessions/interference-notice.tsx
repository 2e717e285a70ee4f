import type { AppState } from '../state/app/app-state.ts'

/** Says that another tab has gone on with the conversation, or has deleted it, and what can be done here. */
export function InterferenceNotice({ appState }: { appState: AppState }) {
  const kind = appState.interference.value
  if (kind === undefined) return null
  return (
    <div class="interference" role="alert" data-testid="interference">
      {kind === 'continued' ? (
        <>
          <p>This conversation goes on in another tab.</p>
          <button type="button" class="primary" onClick={() => void appState.takeOver()}>
            Go on here
          </button>
        </>
      ) : (
        <>
          <p>Another tab has deleted this conversation.</p>
          <button type="button" class="primary" onClick={() => appState.create()}>
            New conversation
          </button>
        </>
      )}
    </div>
  )
}

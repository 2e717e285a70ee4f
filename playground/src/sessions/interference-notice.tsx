import type { AppState } from '../state/app/app-state.ts'

/** Reports that another tab continued or deleted the conversation, with possible actions. */
export function InterferenceNotice({ appState }: { appState: AppState }) {
  const kind = appState.interference.value
  if (kind === undefined) return null
  return (
    <div class="interference" role="alert" data-testid="interference">
      {kind === 'continued' ? (
        <>
          <p>This conversation continues in another tab.</p>
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

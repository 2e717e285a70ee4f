import { escapeControls } from '../../../src/store.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { keepPlace } from '../parts/keep-place.ts'
import type { AppState } from '../state/app/app-state.ts'
import type { Notice } from '../state/notices/notices.ts'
import type { Remedy } from '../state/notices/remedies.ts'
import { RemedyButton } from './remedy-button.tsx'

/** Notices with possible actions. Conversation notices are shown only if they belong to the current conversation or link to another one. */
export function NoticeList({ appState, act }: { appState: AppState; act: (remedy: Remedy, sessionId?: string) => void }) {
  const { sessionId } = appState.current.value
  const concerns = (notice: Notice) => notice.remedies.includes('open') || (notice.sessionId ?? sessionId) === sessionId
  const shown = appState.notices.list.value.filter(concerns)
  if (shown.length === 0) return null
  return (
    <ul class="notices" aria-label="Notices">
      {shown.map(({ topic, sessionId: about, kind, text, remedies }) => {
        const dismiss = () => appState.notices.dismiss(topic, about)
        return (
          <li key={`${topic} ${about}`} class="notice-row" data-kind={kind} data-testid="notice">
            <p role={kind === 'failure' ? 'alert' : 'status'}>{escapeControls(text)}</p>
            <span class="notice-actions">
              {remedies.map((remedy) => (
                <RemedyButton
                  key={remedy}
                  remedy={remedy}
                  onClick={() => {
                    dismiss()
                    act(remedy, about)
                  }}
                />
              ))}
              <IconButton icon="close" label="Dismiss" onClick={keepPlace(dismiss)} />
            </span>
          </li>
        )
      })}
    </ul>
  )
}

import { useEffect } from 'preact/hooks'
import { attach } from '../composer/attach.ts'
import { Composer } from '../composer/composer.tsx'
import { ScenarioBar } from '../composer/scenario-bar.tsx'
import { play } from '../demo/play.ts'
import type { Scenario } from '../demo/scenario.ts'
import { scenarios } from '../demo/scenarios/index.ts'
import { loadLateParts } from '../late/conversation-parts.tsx'
import { lazy } from '../late/lazy.tsx'
import { loadMarkdown } from '../markdown/lazy-markdown.tsx'
import { LinkQuestion } from '../markdown/link-question.tsx'
import { KeyBanner } from '../models/key-banner.tsx'
import { NoticeList } from '../notices/notice-list.tsx'
import { InterferenceNotice } from '../sessions/interference-notice.tsx'
import type { AppState } from '../state/app/app-state.ts'
import type { Conversation } from '../state/conversation/conversation.ts'
import type { DialogName } from '../state/layout.ts'
import type { Remedy } from '../state/notices/remedies.ts'
import { Transcript } from './transcript.tsx'
import { Welcome } from './welcome.tsx'

const ReplayBar = lazy(async () => (await import('../replay/replay-bar.tsx')).ReplayBar)

interface ConversationPaneProps {
  appState: AppState
  conversation: Conversation
  onDialog: (which: DialogName) => void
}

/** The current conversation with its composer. */
export function ConversationPane({ appState, conversation, onDialog }: ConversationPaneProps) {
  const state = conversation.state.value
  const race = conversation.race.value
  const isRunning = state.status === 'running' || race?.isRunning === true
  const isElsewhere = appState.interference.value !== undefined || appState.isMoving.value
  const { replay } = conversation
  useEffect(() => {
    loadMarkdown()
    void loadLateParts()
  }, [])
  const isEmpty = state.messages.length === 0 && state.live === undefined && race === undefined
  const isScripted = conversation.chat.model.isScripted && appState.backend.settings.value.place === 'tab'
  const offered = isScripted ? scenarios : []
  const isBusy = isRunning || isElsewhere
  const pick = (scenario: Scenario) => play(appState, conversation, scenario)

  const isMute = isElsewhere || race?.isRunning === true || replay !== undefined

  function drop(event: DragEvent): void {
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length === 0) return
    if (!isMute) void attach(conversation.draft, files)
  }

  function act(remedy: Remedy, about = conversation.sessionId): void {
    const acts: Record<Remedy, () => void> = {
      retry: conversation.retry,
      continue: conversation.goOn,
      compactAndRetry: conversation.compactAndRetry,
      settings: () => onDialog('settings'),
      schema: () => onDialog('agent'),
      freeSpace: () => onDialog('storage'),
      reload: () => location.reload(),
      takeOver: () => void appState.takeOver(),
      stop: conversation.abort,
      open: () => void appState.open(about),
    }
    acts[remedy]()
  }

  return (
    <main class="conversation-pane" onDrop={drop}>
      <h2 class="visually-hidden">Conversation</h2>
      <LinkQuestion>
        <Transcript
          state={state}
          isEmpty={isEmpty}
          welcome={replay === undefined && <Welcome scenarios={offered} isDisabled={isBusy} onPick={pick} />}
          race={race}
          record={conversation.record.value}
          selection={appState.selection.value}
          isElsewhere={isElsewhere}
          actions={isElsewhere || replay !== undefined ? undefined : conversation}
          connection={conversation.chat.connection?.value}
          requests={conversation.log.requests}
          misfits={conversation.log.misfits.value}
          hasSettings={appState.backend.settings.value.place === 'tab'}
          modelUrl={modelUrlOf(conversation)}
          onRemedy={isElsewhere || replay !== undefined ? undefined : act}
          onSelect={appState.select}
          onBranch={(loopId) => void appState.open(conversation.sessionId, loopId)}
        />
      </LinkQuestion>
      <footer class="dock">
        <NoticeList appState={appState} act={act} />
        <InterferenceNotice appState={appState} />
        <KeyBanner />
        {replay === undefined ? (
          <>
            {isScripted && !isEmpty && <ScenarioBar scenarios={scenarios} isDisabled={isBusy} onPick={pick} />}
            <Composer conversation={conversation} isRunning={isRunning} isDisabled={isMute} />
          </>
        ) : (
          <ReplayBar replay={replay} onLeave={() => void appState.open(conversation.sessionId)} />
        )}
      </footer>
    </main>
  )
}

/** Its last run's status. */
function modelUrlOf({ log }: Conversation): string | undefined {
  const start = log.events.findLast((event) => event.type === 'agentStart')
  return start?.configSnapshot.baseUrl
}

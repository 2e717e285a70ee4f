import { useRef } from 'preact/hooks'
import { download } from '../parts/download.ts'
import { Icon } from '../parts/icon.tsx'
import { endpoint } from '../remote/endpoint.ts'
import type { AppState } from '../state/app/app-state.ts'
import type { ExportFormat } from '../state/backend/chat-port.ts'

const formats: Record<ExportFormat, string> = {
  phi: 'Whole conversation (phi)',
  page: 'Page to share (HTML)',
  rust: 'Rust ledger',
  markdown: 'Markdown',
}

/** Imports a file, or exports the current conversation. */
export function TransferButtons({ appState, onStorage }: { appState: AppState; onStorage: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const conversation = appState.current.value
  const isEmpty = conversation.record.value === undefined

  async function take(file: File | undefined): Promise<void> {
    if (file !== undefined) await appState.importFrom(file)
    if (input.current !== null) input.current.value = ''
  }

  async function give(format: ExportFormat): Promise<void> {
    await appState.notices.attempt({ topic: 'export', failure: 'Not exported' }, async () => {
      const { name, type, text } = await appState.backend.exportAs(conversation.sessionId, format)
      download({ name, type, content: text })
    })
  }

  return (
    <footer class="transfer">
      <button type="button" class="small" disabled={isEmpty || conversation.replay !== undefined} onClick={() => void appState.replay()}>
        <Icon name="play" />
        Replay
      </button>
      <HandOverButton appState={appState} />
      <button type="button" class="small" onClick={() => input.current?.click()}>
        <Icon name="upload" />
        Import
      </button>
      <input
        class="visually-hidden"
        type="file"
        tabIndex={-1}
        aria-label="File to import"
        accept=".json,.jsonl,.html,application/json"
        ref={input}
        onChange={(event) => void take(event.currentTarget.files?.[0])}
      />
      <label class="export">
        <Icon name="download" />
        <span class="visually-hidden">Export as</span>
        <select
          disabled={isEmpty}
          value=""
          onChange={(event) => {
            void give(event.currentTarget.value as ExportFormat) // one of the options below
            event.currentTarget.value = ''
          }}
        >
          <option value="" disabled>
            Export
          </option>
          {Object.entries(formats).map(([format, name]) => (
            <option key={format} value={format}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p class="kept">
        <Kept appState={appState} onStorage={onStorage} />
      </p>
    </footer>
  )
}

/** The place where conversations are stored, if known. */
function Kept({ appState: { backend }, onStorage }: { appState: AppState; onStorage: () => void }) {
  if (backend.settings.value.place === 'server')
    return endpoint === undefined ? <>Stored on the server. To compare set-ups, use “To browser”.</> : <>Stored by phi, on this machine.</>
  if (!backend.isKept) return <>Not stored: lost when this page closes.</>
  return (
    <>
      In this browser only.{' '}
      <button type="button" class="link" onClick={onStorage}>
        Storage
      </button>
    </>
  )
}

/** Moves the conversation to the other place with its queue. */
function HandOverButton({ appState }: { appState: AppState }) {
  const settings = appState.backend.settings.value
  const isHere = settings.place === 'tab'
  const conversation = appState.current.value
  if (endpoint !== undefined) return null
  const isReady = conversation.record.value !== undefined && conversation.replay === undefined
  return (
    <button
      type="button"
      class="small"
      disabled={!isReady}
      title={isHere ? 'Continues on the server from its current state' : 'Continues in this tab from its current state'}
      onClick={() => void appState.handOver({ ...settings, place: isHere ? 'server' : 'tab' })}
    >
      <Icon name="server" />
      {isHere ? 'To server' : 'To browser'}
    </button>
  )
}

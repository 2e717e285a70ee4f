import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { demoSetup } from '../demo/agent.ts'
import { errorText } from '../parts/error-text.ts'
import { endpoint } from '../remote/endpoint.ts'
import type {
  Backend,
  ChatPort,
  ExportFormat,
  OnOtherTab,
  SessionFile,
  SettableBackend,
  StoredSession,
} from '../state/backend/chat-port.ts'
import { type AgentSetup, type LocalBackend, localBackend } from '../state/backend/local-backend.ts'
import { defaultSettings, keepSettings, keptSettings, type Settings } from './settings.ts'

/** Opens the place that was selected last time. */
export async function openBackend(onOtherTab: OnOtherTab): Promise<PlacedBackend> {
  const settings = await chosenSettings()
  const places = new Places(onOtherTab)
  try {
    return new PlacedBackend(await places.of(settings), settings, places)
  } catch (error) {
    // The selection stays, because the server may be available after a reload.
    const here: Settings = { ...settings, place: 'tab', model: { ...settings.model, source: 'scripted' } }
    const warning = `${errorText(error)} The scripted model responds in this tab instead.`
    return new PlacedBackend(await places.of(here), here, places, warning)
  }
}

async function chosenSettings(): Promise<Settings> {
  if (endpoint !== undefined) return (await import('../remote/page-of-server.ts')).settingsOfServer(endpoint)
  const kept = keptSettings()
  return kept === undefined ? defaultSettings : (await import('./parse-settings.ts')).parseSettings(kept)
}

/** The possible places for conversations. A place's code loads when it is first selected. */
class Places {
  readonly #onOtherTab: OnOtherTab
  #setUp: () => AgentSetup = demoSetup
  #local: LocalBackend | undefined

  constructor(onOtherTab: OnOtherTab) {
    this.#onOtherTab = onOtherTab
  }

  async of(settings: Settings): Promise<Backend> {
    if (settings.place === 'server') return (await import('../remote/remote-backend.ts')).openRemoteBackend(settings)
    this.#local ??= localBackend(() => this.#setUp(), this.#onOtherTab)
    // Both load in parallel. A failure is reported where the storage is needed.
    this.#local.opened().catch(() => undefined)
    this.#setUp = await setUpFor(settings)
    return this.#local
  }
}

async function setUpFor(settings: Settings): Promise<() => AgentSetup> {
  if (settings.model.source !== 'scripted') return (await import('./agent-setup.ts')).agentSetup(settings)
  return () => demoSetup(settings)
}

/** The conversations in the place that the settings select. The rest of the page does not depend on the place. */
export class PlacedBackend implements SettableBackend {
  #warning: string | undefined
  #keepsSettings = true
  readonly #settings: Signal<Settings>
  readonly #places: Places
  #backend: Backend

  /** `warning` states why it is not the selected place. */
  constructor(backend: Backend, settings: Settings, places: Places, warning?: string) {
    this.#backend = backend
    this.#settings = signal(settings)
    this.#places = places
    this.#warning = warning
  }

  get isKept(): boolean {
    return this.#backend.isKept
  }

  get warning(): string | undefined {
    return this.#warning ?? this.#backend.warning
  }

  get keepsSettings(): boolean {
    return this.#keepsSettings
  }

  async opened(): Promise<void> {
    await this.#backend.opened?.()
  }

  get settings(): ReadonlySignal<Settings> {
    return this.#settings
  }

  /** Applies `settings` to conversations that are created or opened from now on. Close the open conversation first. */
  async use(settings: Settings): Promise<void> {
    const backend = await this.#places.of(settings)
    await backend.opened?.()
    this.#backend = backend
    this.#warning = undefined
    this.#settings.value = settings
    // The next server on this port may be a different one.
    this.#keepsSettings = endpoint !== undefined || keepSettings(settings)
  }

  begin(sessionId?: string): ChatPort {
    return this.#backend.begin(sessionId)
  }

  open(sessionId: string, loopId?: string): Promise<ChatPort> {
    return this.#backend.open(sessionId, loopId)
  }

  list(most: number): Promise<StoredSession[]> {
    return this.#backend.list(most)
  }

  read(sessionId: string, options?: { events?: boolean }) {
    return this.#backend.read(sessionId, options)
  }

  isOpen(sessionId: string): Promise<boolean> {
    return this.#backend.isOpen(sessionId)
  }

  takeOver(sessionId: string): Promise<void> {
    return this.#backend.takeOver(sessionId)
  }

  remove(sessionId: string): Promise<void> {
    return this.#backend.remove(sessionId)
  }

  rename(sessionId: string, title: string): Promise<void> {
    return this.#backend.rename(sessionId, title)
  }

  exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile> {
    return this.#backend.exportAs(sessionId, format)
  }

  importFrom(text: string, options?: { replace?: boolean }): Promise<string> {
    return this.#backend.importFrom(text, options)
  }
}

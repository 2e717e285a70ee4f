import type { ReadonlySignal } from '@preact/signals'
import type { ChatAgent } from '../../../../src/client.ts'
import type { CostConfig, Receipt } from '../../../../src/index.ts'
import type { Session, SessionStatus, SharedState } from '../../../../src/session.ts'
import type { LostConnection } from '../../remote/connection.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Contest } from '../race/local-race.ts'
import type { RunRace } from '../race/race.ts'

/** Facts of a model for the UI. */
export interface ModelFacts {
  name: string
  /** Responses are scripted, and the UI must say so. */
  isScripted: boolean
  /** Tokens of a prompt. */
  contextTokens: number
  /** From how many tokens on older turns are sent in short. */
  compactsAt: number
  cost: CostConfig
}

/**
 * One conversation as the page uses it, wherever its agent is: an `Agent` in this tab, or a `remoteSession` of `phi-core/client`. The page does not
 * know which.
 */
export interface ChatPort {
  readonly agent: ChatAgent
  readonly model: ModelFacts
  /** Problem of the connection to the agent. Absent for an agent in this page. */
  readonly connection?: ReadonlySignal<LostConnection | undefined>
  /** Returns the recorded tree; `undefined` for an empty conversation. */
  recorded(): Promise<Session | undefined>
  /** Stores ratings of responses. Absent if unavailable. */
  readonly shared?: SharedState | undefined
  /** Queued messages from before this page. Absent if unavailable. */
  readonly queued?: readonly QueuedInput[]
  /** Resolves when messages can be stored, and all tools are available. Absent if that is so from the start. */
  ready?(): Promise<void>
  /** Flushes recorded events, because the page is about to end. Absent if another process does it. */
  flush?(): void
  /** Releases the conversation. Runs in this tab stop; remote ones continue. */
  close(): Promise<void>
  /** Lets several configurations respond at once. Absent for a remote agent. */
  race?: RunRace
  /** Does the same with the user's selection. Absent like `race`. */
  compare?: (contest: () => Promise<Contest>) => RunRace
}

/** A queued message, and its kind. */
export interface QueuedInput extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** A conversation in the list. */
export interface StoredSession {
  sessionId: string
  /** Its name, or its first message, or an error. Empty for an empty conversation. */
  title: string
  /** Epoch ms of the first record. */
  startedAt: number
  /** Epoch ms. */
  lastActiveAt: number
  loops: number
  /** Another page, or this one, writes to it. */
  isOpen: boolean
  /** Status of its last run, if known. */
  status?: SessionStatus
}

/** An exported or imported conversation. */
export interface SessionFile {
  name: string
  type: string
  text: string
}

export type ExportFormat = 'phi' | 'rust' | 'markdown' | 'page'

/** A backend whose place, model and agent can be chosen. */
export interface SettableBackend extends Backend {
  readonly settings: ReadonlySignal<Settings>
  /** Whether they survive a reload, if known. */
  readonly keepsSettings?: boolean
  /** Applies `settings` to conversations opened from now on. Rejects without a change if that fails. */
  use(settings: Settings): Promise<void>
}

/** Change by another tab: it took a conversation of this tab, or created, opened, closed or deleted another one. */
export type TabNews = 'takenOver' | 'changed'

/** Hears of a conversation in another tab. */
export type OnOtherTab = (sessionId: string, what: TabNews) => void

/** A place that stores conversations and runs their agents. */
export interface Backend {
  /** Whether conversations survive a reload, if known. */
  readonly isKept: boolean
  /** Differences from the settings, with reasons. Absent without any. */
  readonly warning?: string | undefined
  /** Resolves when the storage is available. Absent if it is from the start. */
  opened?(): Promise<void>
  /** Creates an empty conversation. */
  begin(sessionId?: string): ChatPort
  /** Opens a stored conversation, at its newest loop or at `loopId`. Rejects with `SessionError`. */
  open(sessionId: string, loopId?: string): Promise<ChatPort>
  /** The most recently active first, at most `most` of them. */
  list(most: number): Promise<StoredSession[]>
  /** Reads the tree of a conversation without claiming it; `events: false` returns messages only, if the rest is expensive. */
  read(sessionId: string, options?: { events?: boolean }): Promise<Session>
  isOpen(sessionId: string): Promise<boolean>
  /** Claims a conversation from its owner, which is notified. */
  takeOver(sessionId: string): Promise<void>
  remove(sessionId: string): Promise<void>
  rename(sessionId: string, title: string): Promise<void>
  exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile>
  /** Imports a file of `exportAs`, under a new id if the old one exists, unless `replace` is set. Resolves with the id. */
  importFrom(text: string, options?: { replace?: boolean }): Promise<string>
}

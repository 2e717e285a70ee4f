import type { ReadonlySignal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import type { ChatAgent } from '../../../../src/client.ts'
import type { AgentTool, CostConfig, FileContent, ImageContent, PromptInput, Receipt } from '../../../../src/index.ts'
import type { Session, SessionStatus, SharedState } from '../../../../src/session.ts'
import type { LostConnection } from '../../remote/connection.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Contest } from '../race/local-race.ts'
import type { RunRace } from '../race/race.ts'

/** Facts about a model for the UI. */
export interface ModelFacts {
  name: string
  /** Whether responses are scripted, which the UI must state. */
  isScripted: boolean
  /** Maximum tokens per prompt. */
  contextTokens: number
  /** Number of tokens from which older turns are compacted. */
  compactsAt: number
  cost: CostConfig
}

/**
 * One conversation as the page uses it: an `Agent` in this tab, or a `remoteSession` from `phi-core/client`. The page does not depend on
 * which it is.
 */
export interface ChatPort {
  readonly agent: ChatAgent
  readonly model: ModelFacts
  /** Returns the agent's tools. Absent for a remote agent. */
  tools?(): readonly AgentTool[]
  /** Connection status to display, or `undefined` while connected. Absent for an agent in this page. */
  readonly connection?: ReadonlySignal<LostConnection | undefined>
  /** Returns the recorded tree, or `undefined` for an empty conversation. */
  recorded(): Promise<Session | undefined>
  /** Stores response ratings. Absent if unavailable. */
  readonly shared?: SharedState | undefined
  /** Queued messages from before this page. Absent if unavailable. */
  readonly queued?: readonly QueuedInput[]
  /** Resolves when messages can be stored and all tools are available. Absent if this is the case from the start. */
  ready?(): Promise<void>
  /** Absent without MCP servers in this page. */
  readonly mentions?: TypedMentions | undefined
  /** Flushes recorded events, because the page is about to end. Absent if another process does it. */
  flush?(): void
  /** Releases the conversation. Runs in this tab stop, and remote runs continue. */
  close(): Promise<void>
  /** Lets several configurations respond at the same time. Absent for a remote agent. */
  race?: RunRace
  /** Like `race`, with the user's selection. Absent if `race` is. */
  compare?: (contest: () => Promise<Contest>) => RunRace
}

/** MCP server prompts and resources in text that the visitor types: `/server:prompt` and `@server:uri`. */
export interface TypedMentions {
  /** Completions for the message field. */
  readonly Suggestions: FunctionComponent
  /** Resolves with the input that `text` stands for. Rejects if a server does not have it. */
  inputOf(text: string, media: readonly (ImageContent | FileContent)[], agent: ChatAgent): Promise<PromptInput>
}

/** A queued message and its kind. */
export interface QueuedInput extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** A conversation in the list. */
export interface StoredSession {
  sessionId: string
  /** Its name, its first message, or an error. Empty for an empty conversation. */
  title: string
  /** Epoch ms of the first record. */
  startedAt: number
  /** Epoch ms. */
  lastActiveAt: number
  loops: number
  /** Whether this or another page writes to it. */
  isOpen: boolean
  /** Its last run's status, if known. */
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
  /** Whether the settings survive a reload, if known. */
  readonly keepsSettings?: boolean
  /** Applies `settings` to conversations opened from now on. Rejects without a change if that fails. */
  use(settings: Settings): Promise<void>
}

/** A change by another tab: it took over one of this tab's conversations, or created, opened, closed or deleted another one. */
export type TabNews = 'takenOver' | 'changed'

/** Called with changes by other tabs. */
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
  /** Returns at most `most` conversations, the most recently active first. */
  list(most: number): Promise<StoredSession[]>
  /** Reads a conversation's tree without claiming the conversation. `events: false` returns only messages if the rest is expensive. */
  read(sessionId: string, options?: { events?: boolean }): Promise<Session>
  isOpen(sessionId: string): Promise<boolean>
  /** Claims a conversation from its owner, which is notified. */
  takeOver(sessionId: string): Promise<void>
  remove(sessionId: string): Promise<void>
  rename(sessionId: string, title: string): Promise<void>
  exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile>
  /** Imports a file from `exportAs`, under a new id if the old one exists, unless `replace` is set. Resolves with the id. */
  importFrom(text: string, options?: { replace?: boolean }): Promise<string>
}

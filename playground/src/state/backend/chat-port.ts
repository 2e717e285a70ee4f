import type { ReadonlySignal } from '@preact/signals'
import type { ChatAgent } from '../../../../src/client.ts'
import type { CostConfig, Receipt } from '../../../../src/index.ts'
import type { Session, SessionStatus, SharedState } from '../../../../src/session.ts'
import type { LostConnection } from '../../remote/connection.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Contest } from '../race/local-race.ts'
import type { RunRace } from '../race/race.ts'

/** What the page tells about a model. */
export interface ModelFacts {
  name: string
  /** Answers are prepared: the page must say so. */
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
  /** What is wrong with the connection to the agent. Absent where it is in this page. */
  readonly connection?: ReadonlySignal<LostConnection | undefined>
  /** The tree of everything that was recorded so far; `undefined` before anything was said. */
  recorded(): Promise<Session | undefined>
  /** Where marks of answers are kept. Absent where they cannot be. */
  readonly shared?: SharedState | undefined
  /** What waited to be said before the page was here. Absent where nothing can. */
  readonly queued?: readonly QueuedInput[]
  /** Resolves when what is said can be kept, and answered with all tools. Absent where that is so from the beginning. */
  ready?(): Promise<void>
  /** Has what was heard so far written down at once: the page is about to end. Absent where that is done elsewhere. */
  flush?(): void
  /** Lets others write to the conversation. What runs in this tab is stopped; elsewhere it goes on. */
  close(): Promise<void>
  /** Has several configurations answer at once. Absent where that cannot be done: the agent and its models are elsewhere. */
  race?: RunRace
  /** Has those of the visitor's choice answer. Absent as `race`. */
  compare?: (contest: () => Promise<Contest>) => RunRace
}

/** What waits to be said, and as what. */
export interface QueuedInput extends Receipt {
  readonly kind: 'steer' | 'followUp'
}

/** What the list shows of a conversation. */
export interface StoredSession {
  sessionId: string
  /** Its name, or what was said first; that it cannot be read. Empty before anything was said. */
  title: string
  /** Epoch ms of the first record. */
  startedAt: number
  /** Epoch ms. */
  lastActiveAt: number
  loops: number
  /** Somebody writes to it; perhaps this page. */
  isOpen: boolean
  /** How its last run stands, where that is known. */
  status?: SessionStatus
}

/** A file that a conversation becomes, or came from. */
export interface SessionFile {
  name: string
  type: string
  text: string
}

export type ExportFormat = 'phi' | 'rust' | 'markdown' | 'page'

/** A backend whose place, model and agent can be chosen. */
export interface SettableBackend extends Backend {
  readonly settings: ReadonlySignal<Settings>
  /** Whether they are there again after a reload, as far as that is known. */
  readonly keepsSettings?: boolean
  /** Conversations that are begun or opened from now on are as `settings` say. Rejects, and changes nothing, where that cannot be. */
  use(settings: Settings): Promise<void>
}

/** What another tab did: took a conversation from this one, or began, opened, closed or deleted one that this tab does not write to. */
export type TabNews = 'takenOver' | 'changed'

/** Hears of a conversation in another tab. */
export type OnOtherTab = (sessionId: string, what: TabNews) => void

/** Where conversations are kept and their agents run. */
export interface Backend {
  /** Whether conversations outlive the page, as far as that is known. */
  readonly isKept: boolean
  /** What is not as it was chosen, and why. Absent where all of it is. */
  readonly warning?: string | undefined
  /** Resolves when it is there where they are kept. Absent where it is there from the beginning. */
  opened?(): Promise<void>
  /** A conversation that has said nothing yet. */
  begin(sessionId?: string): ChatPort
  /** Goes on with a stored conversation, from its newest loop or from `loopId`. Rejects with `SessionError`. */
  open(sessionId: string, loopId?: string): Promise<ChatPort>
  /** The most recently active first, at most `most` of them. */
  list(most: number): Promise<StoredSession[]>
  /** The tree of a conversation, read without the right to write; `events: false` for what was said alone, where the rest costs more. */
  read(sessionId: string, options?: { events?: boolean }): Promise<Session>
  isOpen(sessionId: string): Promise<boolean>
  /** Takes the right to write from whoever has it; they are told. */
  takeOver(sessionId: string): Promise<void>
  remove(sessionId: string): Promise<void>
  rename(sessionId: string, title: string): Promise<void>
  exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile>
  /** Stores what `exportAs` gave, under a new id where the old one is taken, unless it should `replace` what is there. Resolves with the id. */
  importFrom(text: string, options?: { replace?: boolean }): Promise<string>
}

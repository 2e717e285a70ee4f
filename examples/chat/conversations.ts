import type { Agent, SessionStore } from 'phi-core'
import { type Chat, chatOf } from 'phi-core/store'
import { openAgent } from './agent.ts'

/** The displayed conversation, and conversations that run in the background. */
export class Conversations {
  readonly #store: SessionStore
  readonly #show: (chat: Chat) => void
  /** Running agents by session, independent of the view. */
  readonly #open = new Map<string, Agent>()
  #current: Agent | undefined
  #shown: Promise<unknown> = Promise.resolve()

  constructor(store: SessionStore, show: (chat: Chat) => void) {
    this.#store = store
    this.#show = show
  }

  get currentId(): string | undefined {
    return this.#current?.sessionId
  }

  /** Opens a conversation, or a new one. A running conversation continues in the background; an idle one is released. */
  show(sessionId?: string): Promise<void> {
    // Opens are serialized: the last click wins, and a double click opens a conversation only once.
    const shown = this.#shown.then(() => this.#go(sessionId))
    this.#shown = shown.catch(() => undefined)
    return shown
  }

  async #go(sessionId: string | undefined): Promise<void> {
    const agent = this.#open.get(sessionId ?? '') ?? (await openAgent(this.#store, sessionId))
    const before = this.#current
    this.#current = agent
    this.#open.set(agent.sessionId, agent)
    this.#show(chatOf(agent))
    if (before !== undefined && before !== agent) void this.#leave(before)
  }

  async #leave(agent: Agent): Promise<void> {
    await agent.currentRun?.result
    if (agent === this.#current || agent.isStreaming) return
    this.#open.delete(agent.sessionId)
    await agent.close()
  }

  /** Called when another tab takes over this conversation. */
  lose(sessionId: string): boolean {
    this.#open.get(sessionId)?.abort()
    this.#open.delete(sessionId)
    return sessionId === this.currentId
  }

  /** Returns the conversations for the list, newest first. */
  async list(): Promise<{ sessionId: string; title: string; isRunning: boolean }[]> {
    const { sessions } = await this.#store.list({ limit: 100 })
    return sessions.map(({ sessionId, title = 'Conversation' }) => {
      return { sessionId, title, isRunning: this.#open.get(sessionId)?.isStreaming === true }
    })
  }
}

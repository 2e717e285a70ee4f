import type { Agent, SessionStore } from 'phi-core'
import { type Chat, chatOf } from 'phi-core/store'
import { openAgent } from './agent.ts'

/** The conversation that is shown, and those that run while another one is. */
export class Conversations {
  readonly #store: SessionStore
  readonly #show: (chat: Chat) => void
  /** By session: what runs belongs to its conversation, not to the view. */
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
    // One after the other: the last click counts, and a double click opens nothing twice.
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

  /** Another tab has taken over this conversation. */
  lose(sessionId: string): boolean {
    this.#open.get(sessionId)?.abort()
    this.#open.delete(sessionId)
    return sessionId === this.currentId
  }

  /** What the list shows: the newest first. */
  async list(): Promise<{ sessionId: string; title: string; isRunning: boolean }[]> {
    const { sessions } = await this.#store.list({ limit: 100 })
    return sessions.map(({ sessionId, title = 'Conversation' }) => {
      return { sessionId, title, isRunning: this.#open.get(sessionId)?.isStreaming === true }
    })
  }
}

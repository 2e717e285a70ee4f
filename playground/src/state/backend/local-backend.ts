import { indexedDbSessionStore } from '../../../../adapters/browser/index.ts'
import { Agent, type AgentOptions, memorySessionStore, resumeAgent, type SessionStore } from '../../../../src/index.ts'
import { type EventStore, type SessionSummary, withEvents } from '../../../../src/session/index.ts'
import { wordsOf } from '../notices/words.ts'
import type { Contest } from '../race/local-race.ts'
import type { RunRace } from '../race/race.ts'
import type { Backend, ChatPort, ExportFormat, ModelFacts, SessionFile, StoredSession } from './chat-port.ts'
import { feedbackRules } from './marks.ts'
import { undefinedWhereUnknown } from './unknown-session.ts'

/** How agents of this tab are made. */
export interface AgentSetup {
  options: AgentOptions
  model: ModelFacts
  /** Which part of it is not there, and why. */
  warning?: string
  /** Who answers when several are asked at once, and who chooses. */
  race?: () => Promise<Contest>
}

/** What each of them keeps beside what is said. */
const beside = { sharedState: feedbackRules }

/** Conversations that are asked for at once. */
const listLimit = 100

/**
 * Conversations of this browser, or of this page alone where the browser stores nothing. `onOtherTab` hears of each conversation that another
 * tab has begun, opened, closed or deleted.
 */
export async function openLocalBackend(setUp: () => AgentSetup, onOtherTab: (sessionId: string) => void): Promise<LocalBackend> {
  const kept = indexedDbSessionStore({ name: 'phi-playground', onTakenOver: onOtherTab, onChange: onOtherTab })
  try {
    await kept.listIds()
    return new LocalBackend(kept, setUp, () => kept.openIds())
  } catch (error) {
    const warning = `Conversations end with this page: ${wordsOf(error)}`
    return new LocalBackend(memorySessionStore(), setUp, async () => [], warning)
  }
}

/** Agents in this tab, recorded with all their events, so that every view is there again after a reload. */
export class LocalBackend implements Backend {
  readonly store: SessionStore & EventStore
  readonly #setUp: () => AgentSetup
  readonly #openIds: () => Promise<string[]>
  readonly #warning: string | undefined
  /** Those of this tab, by session: they hold the right to write. */
  readonly #agents = new Map<string, Agent>()

  constructor(store: SessionStore, setUp: () => AgentSetup, openIds: () => Promise<string[]>, warning?: string) {
    this.store = withEvents(store, { includeStreamingEvents: true })
    this.#setUp = setUp
    this.#openIds = openIds
    this.#warning = warning
  }

  get isKept(): boolean {
    return this.#warning === undefined
  }

  get warning(): string | undefined {
    return [this.#warning, this.#setUp().warning].filter((each) => each !== undefined).join(' ') || undefined
  }

  begin(sessionId?: string): ChatPort {
    const { options, ...setup } = this.#setUp()
    // The page itself shows what a logger is told.
    const agent = new Agent({ ...options, logger: false, ...beside, session: this.store, ...(sessionId !== undefined && { sessionId }) })
    return this.#port(agent, setup)
  }

  async open(sessionId: string, loopId?: string): Promise<ChatPort> {
    const { options, ...setup } = this.#setUp()
    return this.#port(await resumeAgent(this.store, sessionId, { ...options, ...beside, ...(loopId !== undefined && { loopId }) }), setup)
  }

  #port(agent: Agent, { model, race }: Pick<AgentSetup, 'model' | 'race'>): ChatPort {
    const { sessionId } = agent
    const agents = this.#agents.set(sessionId, agent)
    return {
      agent,
      model,
      shared: agent.sharedState,
      recorded: () => this.read(agent.sessionId).catch(undefinedWhereUnknown),
      flush: () => void this.store.flushEvents(),
      async close() {
        const run = agent.currentRun
        agent.abort('the conversation was closed')
        await run?.result
        if (agents.get(sessionId) === agent) agents.delete(sessionId)
        await agent.close()
      },
      compare: (contest) => this.#race(agent, contest),
      ...(race !== undefined && { race: this.#race(agent, race) }),
    }
  }

  /** Only who wants one loads it. */
  #race(agent: Agent, contest: () => Promise<Contest>): RunRace {
    return async (prompt, emit, signal) => {
      const { localRace } = await import('../race/local-race.ts')
      return localRace(agent, this.store, contest)(prompt, emit, signal)
    }
  }

  async list(most: number): Promise<StoredSession[]> {
    const [summaries, open] = await Promise.all([this.#summaries(most), this.#openIds()])
    return summaries.map(({ sessionId, title = '', createdAt, lastActiveAt, loops, status, error }) => ({
      ...{ sessionId, lastActiveAt, loops },
      title: error === undefined ? title : 'This conversation cannot be read.',
      startedAt: createdAt,
      isOpen: open.includes(sessionId),
      ...(status !== undefined && { status }),
    }))
  }

  async #summaries(most: number): Promise<SessionSummary[]> {
    const found: SessionSummary[] = []
    let cursor: string | undefined
    do {
      const limit = Math.min(listLimit, most - found.length)
      const page = await this.store.list({ limit, ...(cursor !== undefined && { cursor }) })
      found.push(...page.sessions)
      cursor = page.nextCursor
    } while (cursor !== undefined && found.length < most)
    return found
  }

  read(sessionId: string) {
    return this.store.load(sessionId)
  }

  async isOpen(sessionId: string): Promise<boolean> {
    return (await this.#openIds()).includes(sessionId)
  }

  async takeOver(sessionId: string): Promise<void> {
    const { agentId } = await this.read(sessionId)
    await (await this.store.open(sessionId, { agentId })).close()
  }

  async remove(sessionId: string): Promise<void> {
    await this.store.delete(sessionId)
  }

  /** By its agent where that is here, also while it runs: whoever else writes takes the conversation over. */
  async rename(sessionId: string, title: string): Promise<void> {
    const agent = this.#agents.get(sessionId)
    if (agent !== undefined) await agent.rename(title)
    else if (await this.isOpen(sessionId)) throw new Error('Another tab writes to this conversation. Name it there.')
    else await this.store.rename(sessionId, title)
  }

  async exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile> {
    const { fileOf } = await import('./local-files.ts')
    return fileOf(this.store, sessionId, format)
  }

  async importFrom(text: string, options?: { replace?: boolean }): Promise<string> {
    const { importInto } = await import('./local-files.ts')
    return importInto(this.store, text, options)
  }
}

import { Agent, type AgentOptions, type AgentTool } from '../../../../src/index.ts'
import type { SessionSummary } from '../../../../src/session.ts'
import { keptHere } from '../../late/answer-parts.ts'
import { areWordsAlone } from '../../late/first-words.ts'
import { type LatePart, latePart } from '../../late/late-part.ts'
import type { Contest } from '../race/local-race.ts'
import type { RunRace } from '../race/race.ts'
import type { Backend, ChatPort, ExportFormat, ModelFacts, OnOtherTab, SessionFile, StoredSession, TypedMentions } from './chat-port.ts'
import type { Kept } from './kept-here.ts'
import { feedbackRules } from './marks.ts'
import { storeToCome } from './store-to-come.ts'
import { undefinedWhereUnknown } from './unknown-session.ts'

/** The parts that create this tab's agents. */
export interface AgentSetup {
  options: AgentOptions
  model: ModelFacts
  /** Message that states what is missing, and why. */
  warning?: string
  /** Configurations that respond, and the judge. */
  race?: () => Promise<Contest>
  /** Prompts and resources from MCP servers. */
  mentions?: TypedMentions | undefined
  /** Optional parts that are still loading. */
  tools?: () => Promise<AgentTool[]>
}

/** An agent's resources. */
const persistence = { sharedState: feedbackRules }

/** Maximum number of listed conversations per request. */
const listLimit = 100

/** This browser's conversations, or conversations in memory if the browser stores nothing. */
export function localBackend(setUp: () => AgentSetup, onOtherTab: OnOtherTab): LocalBackend {
  return new LocalBackend(setUp, async () => (await keptHere.load()).openKept(onOtherTab))
}

/** Recorded agents in this tab. The first one starts before the storage is available. */
export class LocalBackend implements Backend {
  readonly #setUp: () => AgentSetup
  readonly #kept: LatePart<Kept>
  /** This tab's agents by session. They own the right to write. */
  readonly #agents = new Map<string, Agent>()

  constructor(setUp: () => AgentSetup, open: () => Promise<Kept>) {
    this.#setUp = setUp
    this.#kept = latePart(open)
  }

  get isKept(): boolean {
    return this.#kept.loaded !== undefined && this.#kept.loaded.warning === undefined
  }

  get warning(): string | undefined {
    return [this.#kept.loaded?.warning, this.#setUp().warning].filter((each) => each !== undefined).join(' ') || undefined
  }

  async opened(): Promise<void> {
    await this.#kept.load()
  }

  begin(sessionId?: string): ChatPort {
    const { options, ...setup } = this.#setUp()
    const session = this.#kept.loaded?.store ?? storeToCome(async () => (await this.#kept.load()).store, areWordsAlone)
    // The page shows log messages itself.
    const agent = new Agent({ ...options, logger: false, ...persistence, session, ...(sessionId !== undefined && { sessionId }) })
    return this.#port(agent, setup)
  }

  async open(sessionId: string, loopId?: string): Promise<ChatPort> {
    const { options, tools, ...setup } = this.#setUp()
    // A pending call may be decided immediately.
    const [{ store, resume }, late] = await Promise.all([this.#kept.load(), tools?.()])
    const whole = { ...options, ...persistence, ...(late !== undefined && { tools: late }), ...(loopId !== undefined && { loopId }) }
    return this.#port(await resume(store, sessionId, whole), setup)
  }

  #port(agent: Agent, { model, race, tools, mentions }: Omit<AgentSetup, 'options'>): ChatPort {
    const { sessionId } = agent
    const agents = this.#agents.set(sessionId, agent)
    const equipped = tools && latePart(async () => agent.setTools(await tools()))
    // The failure is reported to the code that sent the message.
    equipped?.load().catch(() => undefined)
    return {
      agent,
      model,
      mentions,
      ready: async () => {
        if (!areWordsAlone()) await Promise.all([this.#kept.load(), equipped?.load()])
      },
      tools: () => agent.settings.tools ?? [],
      shared: agent.sharedState,
      recorded: () => this.read(agent.sessionId).catch(undefinedWhereUnknown),
      flush: () => void this.#kept.loaded?.store.flushEvents(),
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

  /** Loaded on first use. */
  #race(agent: Agent, contest: () => Promise<Contest>): RunRace {
    return async (prompt, emit, signal) => {
      const [{ localRace }, { store }] = await Promise.all([import('../race/local-race.ts'), this.#kept.load()])
      return localRace(agent, store, contest)(prompt, emit, signal)
    }
  }

  async list(most: number): Promise<StoredSession[]> {
    const { store, openIds } = await this.#kept.load()
    const [summaries, open] = await Promise.all([summariesIn(store, most), openIds()])
    return summaries.map(({ sessionId, title = '', createdAt, lastActiveAt, loops, status, error }) => ({
      ...{ sessionId, lastActiveAt, loops },
      title: error === undefined ? title : 'This conversation is unreadable.',
      startedAt: createdAt,
      isOpen: open.includes(sessionId),
      ...(status !== undefined && { status }),
    }))
  }

  async read(sessionId: string) {
    return (await this.#kept.load()).store.load(sessionId)
  }

  async isOpen(sessionId: string): Promise<boolean> {
    const { openIds } = await this.#kept.load()
    return (await openIds()).includes(sessionId)
  }

  async takeOver(sessionId: string): Promise<void> {
    const { store } = await this.#kept.load()
    const { agentId } = await store.load(sessionId)
    await (await store.open(sessionId, { agentId })).close()
  }

  async remove(sessionId: string): Promise<void> {
    await (await this.#kept.load()).store.delete(sessionId)
  }

  /** Reads from the local agent, even during a run, because another writer would take the conversation over. */
  async rename(sessionId: string, title: string): Promise<void> {
    const agent = this.#agents.get(sessionId)
    if (agent !== undefined) await agent.rename(title)
    else if (await this.isOpen(sessionId)) throw new Error('Another tab has this conversation open. Rename it there.')
    else await (await this.#kept.load()).store.rename(sessionId, title)
  }

  async exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile> {
    const [{ fileOf }, { store }] = await Promise.all([import('./local-files.ts'), this.#kept.load()])
    return fileOf(store, sessionId, format)
  }

  async importFrom(text: string, options?: { replace?: boolean }): Promise<string> {
    const [{ importInto }, { store }] = await Promise.all([import('./local-files.ts'), this.#kept.load()])
    return importInto(store, text, options)
  }
}

async function summariesIn(store: Kept['store'], most: number): Promise<SessionSummary[]> {
  const found: SessionSummary[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(listLimit, most - found.length)
    const page = await store.list({ limit, ...(cursor !== undefined && { cursor }) })
    found.push(...page.sessions)
    cursor = page.nextCursor
  } while (cursor !== undefined && found.length < most)
  return found
}

import { Agent, type AgentEvent, type AgentRun, ConfigError, resumeAgent, type SessionStore } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { queuedInputs } from '../../../src/session.ts'
import { CallProgress } from './call-progress.ts'
import { loopsByKey, type QueuedInputs, versionsByKey } from './commands/queued-inputs.ts'
import type { LiveSessionHost } from './live-session-host.ts'
import type { RecordedSession } from './read/recorded-session.ts'
import { goOn, type UnfinishedRun, unfinishedRun } from './unfinished-run.ts'

/** A run, and how long the history of its agent was when it began. */
interface BegunRun {
  run: AgentRun
  agent: Agent
  length: number
}

interface SessionAgentParts {
  host: LiveSessionHost
  /** Where the agent records. */
  store: SessionStore
  recorded: RecordedSession
  queued: QueuedInputs
  /** Called as each run begins. */
  onBegin: (run: AgentRun | undefined) => void
  onEvent: (event: AgentEvent) => void
  /** Called with each version of what the session shares with its pages, whether or not a run is on. */
  onState: (version: number) => void
}

/**
 * The agent of one session in memory: when it is made, and when it is not the one to go on with any more.
 *
 * **Contract**
 * - `opened` makes one where there is none; a run that a restart has cut off is on again then. Nothing else does.
 * - An agent whose memory is not what is in the log is dropped; the next one is made of the log.
 */
export class SessionAgent {
  readonly #parts: SessionAgentParts
  #agent: Promise<Agent> | undefined
  /** Who else held the session when the agent was made. */
  #knownHolder: string | undefined
  #latest: BegunRun | undefined
  /** What became of the calls of that run. */
  readonly calls = new CallProgress()
  /** The loops that were begun under keys before the agent was made. */
  #begunBefore: ReadonlyMap<string, string> = new Map()
  /** The versions of shared state that were made under keys before. */
  #changedBefore: ReadonlyMap<string, number> = new Map()

  constructor(parts: SessionAgentParts) {
    this.#parts = parts
  }

  get isMade(): boolean {
    return this.#agent !== undefined
  }

  /** The run that began last in this process. */
  get latest(): BegunRun | undefined {
    return this.#latest
  }

  /** The loop that was begun under this key before the agent was made, if any. */
  begunUnder(key: string): string | undefined {
    return this.#begunBefore.get(key)
  }

  /** The version of shared state that was made under this key before the agent was made, if any. */
  changedUnder(key: string): number | undefined {
    return this.#changedBefore.get(key)
  }

  opened(): Promise<Agent> {
    this.#agent ??= this.#open()
    const agent = this.#agent
    // Another try may work.
    agent.catch(() => this.#dropThis(agent))
    return agent
  }

  /** The agent, if one was made. */
  async inMemory(): Promise<Agent | undefined> {
    return this.#agent?.catch(() => undefined)
  }

  /** What waits for a person or a page. */
  async waiting() {
    const agent = await this.inMemory()
    return {
      approvals: agent?.pendingApprovals() ?? [],
      inputs: agent?.currentRun?.pendingInputs() ?? [],
      clientCalls: agent?.pendingClientCalls() ?? [],
    }
  }

  /** Goes on with an agent that somebody in this process talks with: runs of both sides are runs of it. Throws where there is one already. */
  adopt(agent: Agent): void {
    if (this.#agent !== undefined) throw new ConfigError('invalidOption', `Session ${agent.sessionId} has an agent here already.`)
    this.#agent = Promise.resolve(agent)
    this.#listenTo(agent)
    const run = this.note(agent)
    if (run === undefined) return
    this.#parts.host.runs.keep()
    this.#parts.onBegin(run)
  }

  /** Goes on from the end of this loop. What it resolves with goes back to where it was. Throws as `assertLoop`. */
  async moveTo(loopId: string): Promise<() => Promise<void>> {
    const before = await this.inMemory()
    if (before?.lastLoopId === loopId) return async () => undefined
    // Before an agent is made, which may open connections.
    await this.#parts.recorded.assertLoop(loopId)
    const agent = await this.#make({ loopId })
    // Its writer would be a second one.
    await before?.close()
    this.#agent = Promise.resolve(agent)
    return async () => {
      this.drop()
      await agent.close()
    }
  }

  /** The next who asks gets one that is made of the log. */
  drop(): void {
    this.#agent = undefined
  }

  /** An agent that rests does not know what another writer has written since it was made. */
  async dropOutdated(): Promise<void> {
    const holder = this.#parts.host.otherHolder?.()
    const current = this.#agent
    if (holder === undefined || holder === this.#knownHolder || current === undefined) return
    if ((await current.catch(() => undefined))?.isStreaming !== true) this.#dropThis(current)
  }

  /** Stops what is on and knows of no run any more. */
  forget(): void {
    void this.inMemory().then((agent) => agent?.abort())
    this.#agent = undefined
    this.#latest = undefined
  }

  /** The run that is on is the last one; with its start it knows the history that it goes on from, which others may have added to. */
  note(agent: Agent): AgentRun | undefined {
    const { currentRun: run, messages } = agent
    if (run !== undefined) this.#latest = { run, agent, length: messages.length }
    return run
  }

  async #open(): Promise<Agent> {
    const { host, recorded, queued: inputs } = this.#parts
    const records = await recorded.records()
    this.#begunBefore = loopsByKey(records)
    this.#changedBefore = versionsByKey(records)
    this.#knownHolder = host.otherHolder?.()
    const [queued, unfinished] = [queuedInputs(records), this.#knownHolder === undefined ? unfinishedRun(records) : undefined]
    if (unfinished !== undefined && (await host.attempts.begin(records))) return this.#goOn(unfinished, queued)
    if (unfinished !== undefined) await recorded.giveUp(unfinished)
    inputs.takeOver(queued.values(), undefined)
    return this.#make(records.length > 0 ? {} : undefined)
  }

  async #goOn(unfinished: UnfinishedRun, queued: ReadonlyMap<string, RecordedInput>): Promise<Agent> {
    const { host, recorded, queued: inputs } = this.#parts
    const agent = await this.#make({}).catch(async (error: unknown) => {
      await host.attempts.takeBack()
      throw error
    })
    await host.keepAwake?.()
    // Its process may have lived on until here, and ended it.
    const [last] = await recorded.records({ last: 1 })
    const run = last?.entry.type === 'loopEnd' ? undefined : goOn(agent, queued)
    if (run === undefined) await recorded.endComplete(unfinished)
    inputs.takeOver(queued.values(), run)
    this.note(agent)
    if (run !== undefined) host.runs.keep()
    return run === undefined ? this.#make({}) : agent
  }

  /** An agent for the session as it is in the log; without `known`, for one in which nothing was said. */
  async #make(known?: { loopId?: string }): Promise<Agent> {
    const { host, store } = this.#parts
    const { sessionId } = host
    const options = await host.agentOptions()
    const agent =
      known === undefined
        ? new Agent({ ...options, sessionId, session: store })
        : await resumeAgent(store, sessionId, { ...options, ...known })
    this.#listenTo(agent)
    host.onAgent?.(agent)
    return agent
  }

  #listenTo(agent: Agent): void {
    const { host, onBegin, onEvent, onState } = this.#parts
    agent.sharedState?.subscribe(({ version }) => onState(version))
    agent.subscribe((event) => {
      this.calls.take(event)
      // Clients are told how it ends: no warning has to.
      if (event.type === 'agentStart') void agent.currentRun?.result
      if (event.type === 'agentStart') onBegin(this.note(agent))
      onEvent(event)
      if (event.type === 'agentEnd') host.runs.close()
      // What it has in memory is not what is in the log; the next run begins from there.
      if (event.type === 'agentEnd' && event.error?.code === 'journal') void this.#dropAgent(agent).then(() => host.cutOff?.())
    })
  }

  async #dropAgent(agent: Agent): Promise<void> {
    const current = this.#agent
    if (current !== undefined && (await current) === agent) this.#dropThis(current)
  }

  #dropThis(agent: Promise<Agent>): void {
    if (this.#agent === agent) this.#agent = undefined
  }
}

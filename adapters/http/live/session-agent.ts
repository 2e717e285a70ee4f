import { Agent, type AgentEvent, type AgentRun, ConfigError, resumeAgent, type SessionStore } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { queuedInputs } from '../../../src/session.ts'
import { CallProgress } from './call-progress.ts'
import { loopsByKey, type QueuedInputs, versionsByKey } from './commands/queued-inputs.ts'
import type { LiveSessionHost } from './live-session-host.ts'
import type { RecordedSession } from './read/recorded-session.ts'
import { goOn, type UnfinishedRun, unfinishedRun } from './unfinished-run.ts'

/** A run, and the length of its agent's history at its start. */
interface BegunRun {
  run: AgentRun
  agent: Agent
  length: number
}

interface SessionAgentParts {
  host: LiveSessionHost
  /** The store of the agent's session. */
  store: SessionStore
  recorded: RecordedSession
  queued: QueuedInputs
  /** Called when a run starts. */
  onBegin: (run: AgentRun | undefined) => void
  onEvent: (event: AgentEvent) => void
  /** Called with each version of shared state, also without a run. */
  onState: (version: number) => void
}

/**
 * Creates the agent of one session in memory, and replaces it when it is outdated.
 *
 * **Contract**
 * - Only `opened` creates an agent; it resumes an interrupted run.
 * - An agent whose memory differs from the log is dropped; the next one is created from the log.
 */
export class SessionAgent {
  readonly #parts: SessionAgentParts
  #agent: Promise<Agent> | undefined
  /** The other owner of the session when the agent was created. */
  #knownHolder: string | undefined
  #latest: BegunRun | undefined
  /** The state of the calls of that run. */
  readonly calls = new CallProgress()
  /** Loops that were started under keys before the agent was created. */
  #begunBefore: ReadonlyMap<string, string> = new Map()
  /** Versions of shared state that were made under keys before. */
  #changedBefore: ReadonlyMap<string, number> = new Map()

  constructor(parts: SessionAgentParts) {
    this.#parts = parts
  }

  get isMade(): boolean {
    return this.#agent !== undefined
  }

  /** The run that started last in this process. */
  get latest(): BegunRun | undefined {
    return this.#latest
  }

  /** Returns the loop that was started under this key before the agent was created. */
  begunUnder(key: string): string | undefined {
    return this.#begunBefore.get(key)
  }

  /** Returns the version of shared state that was made under this key before the agent was created. */
  changedUnder(key: string): number | undefined {
    return this.#changedBefore.get(key)
  }

  opened(): Promise<Agent> {
    this.#agent ??= this.#open()
    const agent = this.#agent
    // A retry may succeed.
    agent.catch(() => this.#dropThis(agent))
    return agent
  }

  /** Returns the agent, if one was created. */
  async inMemory(): Promise<Agent | undefined> {
    return this.#agent?.catch(() => undefined)
  }

  /** Returns the pending calls. */
  async waiting() {
    const agent = await this.inMemory()
    return {
      approvals: agent?.pendingApprovals() ?? [],
      inputs: agent?.currentRun?.pendingInputs() ?? [],
      clientCalls: agent?.pendingClientCalls() ?? [],
    }
  }

  /**
   * Continues with an agent of this process that other code also uses: they share its runs. Throws if there is an agent already.
   */
  adopt(agent: Agent): void {
    if (this.#agent !== undefined) throw new ConfigError('invalidOption', `Session ${agent.sessionId} has an agent here already.`)
    this.#agent = Promise.resolve(agent)
    this.#listenTo(agent)
    const run = this.note(agent)
    if (run === undefined) return
    this.#parts.host.runs.keep()
    this.#parts.onBegin(run)
  }

  /** Moves to the end of this loop. Resolves with a function that moves back. Throws as `assertLoop`. */
  async moveTo(loopId: string): Promise<() => Promise<void>> {
    const before = await this.inMemory()
    if (before?.lastLoopId === loopId) return async () => undefined
    // Checked before an agent is created, which may open connections.
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

  /** Drops the agent: the next one is created from the log. */
  drop(): void {
    this.#agent = undefined
  }

  /** Drops an idle agent, because it does not know what other writers have appended. */
  async dropOutdated(): Promise<void> {
    const holder = this.#parts.host.otherHolder?.()
    const current = this.#agent
    if (holder === undefined || holder === this.#knownHolder || current === undefined) return
    if ((await current.catch(() => undefined))?.isStreaming !== true) this.#dropThis(current)
  }

  /** Stops the active run and forgets all runs. */
  forget(): void {
    void this.inMemory().then((agent) => agent?.abort())
    this.#agent = undefined
    this.#latest = undefined
  }

  /** Records the active run as the last one. Its start has the history that it continues, which others may have extended. */
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
    // Its process may have ended it just now.
    const [last] = await recorded.records({ last: 1 })
    const run = last?.entry.type === 'loopEnd' ? undefined : goOn(agent, queued)
    if (run === undefined) await recorded.endComplete(unfinished)
    inputs.takeOver(queued.values(), run)
    this.note(agent)
    if (run !== undefined) host.runs.keep()
    return run === undefined ? this.#make({}) : agent
  }

  /** Creates an agent from the log; without `known`, for a session without messages. */
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
      // Clients see the end, so no warning is necessary.
      if (event.type === 'agentStart') void agent.currentRun?.result
      if (event.type === 'agentStart') onBegin(this.note(agent))
      onEvent(event)
      if (event.type === 'agentEnd') host.runs.close()
      // Its memory differs from the log; the next run starts from the log.
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

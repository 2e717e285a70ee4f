import { startTimer } from '../../../src/base/timer.ts'
import { Agent, type AgentEvent, type AgentRun, ConfigError, resumeAgent, type SessionStore } from '../../../src/index.ts'
import type { RecordedInput } from '../../../src/internal.ts'
import { queuedInputs } from '../../../src/session.ts'
import { type Problem, ProblemError } from '../access/problem.ts'
import { CallProgress } from './call-progress.ts'
import { loopsByKey, type QueuedInputs, versionsByKey } from './commands/queued-inputs.ts'
import type { LiveSessionHost } from './live-session-host.ts'
import type { RecordedSession } from './read/recorded-session.ts'
import type { ContextedRun, RunContext } from './run-context.ts'
import { goOn, type UnfinishedRun, unfinishedRun } from './unfinished-run.ts'

const stoppedFirst: Problem = {
  status: 409,
  code: 'notRunning',
  detail: 'The session was stopped before the context of this run was created. Send the request again.',
}

/** Maximum milliseconds that a request waits for the context of an interrupted run. A fast context makes the resumed run visible. */
const requestWaitMs = 500

/** A run, and the length of the agent's history at its start. */
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
  /** Called with each version of shared state, even without a run. */
  onState: (version: number) => void
}

/**
 * Creates one session's agent in memory, and replaces it when it is outdated.
 *
 * **Contract**
 * - Only `opened` creates an agent. The new agent resumes an interrupted run.
 * - An agent whose memory differs from the log is dropped. The next agent is created from the log.
 */
export class SessionAgent {
  readonly #parts: SessionAgentParts
  #agent: Promise<Agent> | undefined
  /** The other process that owned the session when the agent was created, if any. */
  #knownHolder: string | undefined
  #latest: BegunRun | undefined
  /** Context of the last run in this process. A continuation of the run reuses it. */
  #context: ContextedRun | undefined
  /** Whether a run is waiting for its context. */
  #isAsking = false
  /** Whether a run has waited for its context for longer than `requestWaitMs`. */
  #isLate = false
  readonly #onLate = new Set<() => void>()
  /** Aborts when the session is stopped. */
  #stopped = new AbortController()
  /** The state of the last run's calls. */
  readonly calls = new CallProgress()
  /** Loops by idempotency key, started before the agent was created. */
  #begunBefore: ReadonlyMap<string, string> = new Map()
  /** Shared-state versions by idempotency key, created before the agent. */
  #changedBefore: ReadonlyMap<string, number> = new Map()

  constructor(parts: SessionAgentParts) {
    this.#parts = parts
  }

  get isMade(): boolean {
    return this.#agent !== undefined
  }

  /** Last run that started in this process. */
  get latest(): BegunRun | undefined {
    return this.#latest
  }

  /** Stores the context for a continuation, or `undefined` if unknown. */
  keepContext(run: AgentRun, own: RunContext | undefined): void {
    this.#context = own && { run, own }
  }

  /** Resolves like `context`. Rejects when the session is stopped, because the app may never return a context. */
  async unlessStopped(context: Promise<RunContext>): Promise<RunContext> {
    const { signal } = this.#stopped
    let leave = (): void => undefined
    const stopped = new Promise<never>((_resolve, reject) => {
      let stopTimer = (): void => undefined
      // A context that is ready takes precedence: the run begins and is then stopped.
      const stop = (): void => {
        stopTimer = startTimer(0, () => reject(signal.reason))
      }
      if (signal.aborted) stop()
      signal.addEventListener('abort', stop)
      leave = () => {
        signal.removeEventListener('abort', stop)
        stopTimer()
      }
    })
    return Promise.race([context, stopped]).finally(() => leave())
  }

  /** Resolves when `work` has settled, or when a run waits for its context for too long. Rejects with `work`. */
  async settledOrLate(work: Promise<unknown>): Promise<void> {
    if (this.#isLate) return
    let leave = (): void => undefined
    const late = new Promise<void>((resolve) => {
      this.#onLate.add(resolve)
      leave = () => this.#onLate.delete(resolve)
    })
    await Promise.race([work, late]).finally(leave)
  }

  /** Prevents runs from waiting for their context until the returned function is called. Rejects waiting runs with `problem`. */
  stopAsking(problem: Problem = stoppedFirst): () => void {
    this.#stopped.abort(new ProblemError(problem))
    return () => {
      this.#stopped = new AbortController()
    }
  }

  /** Returns the context of the run that this agent would continue, if that run started in this process. */
  contextOf(agent: Agent): RunContext | undefined {
    return this.#context?.run.loopId === agent.lastLoopId ? this.#context?.own : undefined
  }

  /** Returns the loop with this key that was started before the agent was created. */
  begunUnder(key: string): string | undefined {
    return this.#begunBefore.get(key)
  }

  /** Returns the shared-state version with this key that was created before the agent. */
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
    return this.#isAsking ? undefined : this.#agent?.catch(() => undefined)
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
   * Continues with an agent that other code in this process also uses, and shares its runs. Throws if an agent already exists.
   */
  adopt(agent: Agent): void {
    if (this.#agent !== undefined)
      throw new ConfigError('invalidOption', `Session ${agent.sessionId} already has an agent in this process.`)
    this.#agent = Promise.resolve(agent)
    this.#listenTo(agent)
    const run = this.note(agent)
    if (run === undefined) return
    this.#parts.host.runs.keep()
    this.#parts.onBegin(run)
  }

  /** Moves to the end of this loop. Resolves with a function that moves back. Throws like `assertLoop`. */
  async moveTo(loopId: string): Promise<() => Promise<void>> {
    const before = await this.inMemory()
    if (before?.lastLoopId === loopId) return async () => undefined
    // Check this before creating an agent, because creating one may open connections.
    await this.#parts.recorded.assertLoop(loopId)
    const agent = await this.#make({ loopId })
    // The agent would add a second writer.
    await before?.close()
    this.#agent = Promise.resolve(agent)
    return async () => {
      this.drop()
      await agent.close()
    }
  }

  /** Drops the agent. The next agent is created from the log. */
  drop(): void {
    this.#agent = undefined
  }

  /** Drops an idle agent, because it does not know the records that other writers appended. */
  async dropOutdated(): Promise<void> {
    const holder = this.#parts.host.otherHolder?.()
    const current = this.#agent
    if (holder === undefined || holder === this.#knownHolder || current === undefined) return
    if ((await current.catch(() => undefined))?.isStreaming !== true) this.#dropThis(current)
  }

  /** Clears the last run's context, because the history has been replaced. */
  dropContext(): void {
    this.#context = undefined
  }

  /** Stops the active run and clears all runs. */
  forget(): void {
    void this.inMemory().then((agent) => agent?.abort())
    this.#agent = undefined
    this.#latest = undefined
  }

  /** Stores the active run as the last run, with the history length at its start, which other processes may have extended. */
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
    const notBegun = async (error: unknown): Promise<never> => {
      await host.attempts.takeBack()
      throw error
    }
    const [agent, own] = await this.#madeToGoOn(unfinished).catch(notBegun)
    await host.keepAwake?.()
    // The run's process may have just ended it.
    const [last] = await recorded.records({ last: 1 })
    const ofQueued = () => this.#contextFor('queued')
    const goingOn = last?.entry.type === 'loopEnd' ? undefined : goOn(agent, own, { queued, ofQueued })
    const begun = await goingOn?.catch(async (error: unknown) => {
      await agent.close()
      return notBegun(error)
    })
    if (begun === undefined) await recorded.endComplete(unfinished)
    inputs.takeOver(queued.values(), begun?.run)
    this.note(agent)
    if (begun === undefined) return this.#make({})
    this.#context = begun
    host.runs.keep()
    return agent
  }

  /** Creates the agent that resumes a run, with the run's context. */
  async #madeToGoOn({ loopId }: UnfinishedRun): Promise<[Agent, RunContext]> {
    const own = this.#context?.run.loopId === loopId ? this.#context.own : await this.#contextFor('recover')
    return [await this.#make({}), own]
  }

  /** Returns the context of a run that is resumed. Reads do not wait for it. */
  async #contextFor(reason: 'queued' | 'recover'): Promise<RunContext> {
    this.#isAsking = true
    const stopTimer = startTimer(requestWaitMs, () => {
      this.#isLate = true
      for (const resolve of this.#onLate) resolve()
    })
    try {
      return await this.unlessStopped((async () => (await this.#parts.host.contextFor?.(reason)) ?? {})())
    } finally {
      stopTimer()
      this.#isAsking = false
      this.#isLate = false
    }
  }

  /** Creates an agent from the log. Without `known`, the session has no messages. */
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
      // Clients see that the run has ended, so prevent the warning.
      if (event.type === 'agentStart') void agent.currentRun?.result
      if (event.type === 'agentStart') onBegin(this.note(agent))
      onEvent(event)
      if (event.type === 'agentEnd') host.runs.close()
      // The agent's memory differs from the log, so the next run starts from the log.
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

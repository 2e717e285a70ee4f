import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { type Agent, AgentBusyError, type AgentEvent, type AgentMessage, type AgentRun, type SessionStore } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import { leaving, type Problem, ProblemError } from '../access/problem.ts'
import { SessionWatch } from '../notices/session-watch.ts'
import type { SessionSchedules } from '../schedules/session-schedules.ts'
import type { CallProgress } from './call-progress.ts'
import { PageRuns } from './commands/page-runs.ts'
import { IdempotencyCache, QueuedInputs } from './commands/queued-inputs.ts'
import { RevocableStore, untilHandedOver, withDeadline } from './hand-over.ts'
import type { LiveSessionHost } from './live-session-host.ts'
import { NamedMedia } from './named-media.ts'
import { RecordedSession } from './read/recorded-session.ts'
import { RunFollowers } from './run-followers.ts'
import { Mutex, RunStarter } from './run-starter.ts'
import { SessionAgent } from './session-agent.ts'
import { isCutOff } from './unfinished-run.ts'

/**
 * A session in memory with its agent and recorded runs. All hosts use this class.
 *
 * **Contract**
 * - Reads create no agent, claim no ownership and resume no run. They work even if another process owns the session or no agent can be
 *   created.
 * - Commands and `recover` create an agent if needed and resume the unfinished run, unless another writer owns the session.
 * - The last run stays readable until the session is evicted from memory.
 */
export class LiveSession {
  readonly #host: LiveSessionHost
  readonly sessionId: string
  readonly caller: Caller
  readonly store: SessionStore
  /** The stored records of the session. */
  readonly recorded: RecordedSession
  /** Large media in the session's events. */
  readonly media: NamedMedia
  readonly #agent: SessionAgent
  /** Starts the session's runs. */
  readonly starts: RunStarter
  /** Shared-state versions by client idempotency key. */
  readonly #stateChanges = new IdempotencyCache<number>()
  /** Messages that clients have queued for runs. */
  readonly queued = new QueuedInputs()
  /** Runs that client requests have started. */
  readonly pageRuns = new PageRuns()
  /** Serializes creating, replacing and releasing the agent, so that two concurrent starts cannot create two agents. */
  readonly #mutex = new Mutex()
  #claim: Promise<void> | undefined
  #hasLeft = false
  #heardAt = 0
  readonly #followers = new RunFollowers()
  readonly #watch: SessionWatch
  readonly #writing: RevocableStore

  constructor(host: LiveSessionHost) {
    this.#host = host
    this.sessionId = host.sessionId
    this.caller = host.caller ?? {}
    this.store = host.store
    this.media = new NamedMedia(host.store)
    this.#writing = new RevocableStore(host.store, { moves: host.moves ?? false })
    this.recorded = new RecordedSession(host.store, host.sessionId, (loopId, outcome) => this.#watch.ended(loopId, outcome))
    this.#agent = new SessionAgent({
      host,
      store: this.#writing,
      recorded: this.recorded,
      queued: this.queued,
      onBegin: (run) => {
        this.media.begin()
        this.#followers.tell(run)
      },
      onEvent: (event) => {
        this.#heardAt = Date.now()
        this.#watch.event(event)
      },
      onState: (version) => this.#followers.tellState(version),
    })
    this.starts = new RunStarter({
      host,
      agent: this.#agent,
      opened: () => this.agent(),
      continued: () => this.continuedRun(),
      recorded: this.recorded,
      writing: this.#writing,
      mutex: this.#mutex,
    })
    this.#watch = new SessionWatch({
      sessionId: host.sessionId,
      identity: host.caller?.identity,
      handlers: host,
      logger: host.logger,
      waiting: () => this.#agent.waiting(),
      isElsewhere: () => this.takenOver.aborted,
    })
  }

  /** Aborts when a run moves to another process, so that readers reconnect. */
  get takenOver(): AbortSignal {
    return this.#writing.revoked
  }

  /** Returns the agent for a command. Resumes an interrupted run first. */
  agent(): Promise<Agent> {
    if (this.#hasLeft) return Promise.reject(new ProblemError(leaving))
    return this.#agent.opened()
  }

  /** Continues with an existing agent in this process that other code also uses. */
  adopt(agent: Agent): Promise<void> {
    return this.#mutex.run(async () => this.#agent.adopt(agent))
  }

  /** Returns the agent for a read, or `undefined` if none was created. */
  inMemory(): Promise<Agent | undefined> {
    return this.#agent.inMemory()
  }

  /** Returns whether a run is active in this process. */
  async isRunning(): Promise<boolean> {
    return (await this.inMemory())?.isStreaming === true
  }

  /** Applies a shared-state change, once per `key`, even after a restart. */
  changeOnce(key: string | undefined, change: () => Promise<number>): Promise<number> {
    return this.#stateChanges.get(key, async () => (key === undefined ? undefined : this.#agent.changedUnder(key)) ?? change())
  }

  /**
   * Resumes an interrupted run, unless another writer owns the session. Resolves with whether a run is active. If not, logs the reason.
   */
  async recover(): Promise<boolean> {
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.continuedRun()) !== undefined
  }

  /** Like `recover`, but resolves early if the run waits for its context, so that requests are not delayed. */
  beginRecovery(): Promise<void> {
    const recovering = this.recover()
    // The next request retries a recovery that fails later.
    recovering.catch(() => undefined)
    return this.#agent.settledOrLate(recovering)
  }

  /** Takes ownership of the log. Earlier writers can no longer append, so later reads are complete. */
  claim(): Promise<void> {
    this.#claim ??= this.recorded.claim().catch((error: unknown) => {
      this.#claim = undefined
      throw error
    })
    return this.#claim
  }

  /**
   * Like `recover`, but rejects if no agent can be created, so that the host can retry. If sessions move, claims the session first, because
   * the previous owner may not know yet that it lost ownership.
   */
  async takeOver(): Promise<boolean> {
    if (this.#host.moves === true && !this.#agent.isMade) await this.claim()
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.agent()).currentRun !== undefined
  }

  /** Called by a host that keeps its process alive. Resolves with whether a run still needs the process. */
  async keepAlive(): Promise<boolean> {
    const { isStreaming } = await this.agent()
    this.#host.runs[isStreaming ? 'keep' : 'close']()
    return isStreaming
  }

  /** Returns the active run in this process. */
  async currentRun(): Promise<AgentRun | undefined> {
    return (await this.inMemory())?.currentRun
  }

  /**
   * Returns the active run for a command, or the resumed run after a restart. If no agent can be created, logs the reason and returns
   * `undefined`.
   */
  async continuedRun(): Promise<AgentRun | undefined> {
    if (!this.#agent.isMade && !(await this.recorded.isKnown())) return undefined
    try {
      return (await this.agent()).currentRun
    } catch (error) {
      // The new owner handles later requests.
      if (this.#hasLeft) throw error
      logWarning(this.#host.logger, 'agentFailed', { message: errorText(error) })
      return undefined
    }
  }

  /** Returns the run with this loop or id, if it is in memory. */
  async runOf({ loopId, runId }: { loopId: string; runId?: string }): Promise<AgentRun | undefined> {
    return [await this.currentRun(), this.#agent.latest?.run].find(
      (run) => run !== undefined && (run.loopId === loopId || run.id === runId),
    )
  }

  /** Returns the conversation before `run`, or an empty list if `run` is not the last one. */
  historyBefore(run: AgentRun): readonly AgentMessage[] {
    const { latest } = this.#agent
    return latest?.run === run ? latest.agent.messages.slice(0, latest.length) : []
  }

  /** Returns the active run, like `continuedRun`, or the last run of this process. */
  async latestRun(): Promise<AgentRun | undefined> {
    return (await this.continuedRun()) ?? this.#agent.latest?.run
  }

  /** The state of the last run's calls. */
  get calls(): CallProgress {
    return this.#agent.calls
  }

  /** Number of pending calls, and number of queued messages. */
  get waiting(): { approvals: number; messages: number } {
    const run = this.#agent.latest?.run
    const calls = [...(run?.pendingApprovals() ?? []), ...(run?.pendingClientCalls() ?? [])]
    return { approvals: calls.length, messages: this.queued.waiting().length }
  }

  /** Scheduled prompts, or `undefined` if the host stores none. */
  get schedules(): SessionSchedules | undefined {
    return this.#host.schedules
  }

  /** Registers a connected client. Returns a function that unregisters it. */
  enter(): () => void {
    return this.#watch.enter()
  }

  /** Whether a client follows the session across runs. */
  get isWatched(): boolean {
    return this.#followers.size > 0
  }

  /**
   * Yields the events of the active run, then those of each later run, until `signal` aborts. With `first`, begins with these events of the
   * active or last run.
   */
  follow(signal: AbortSignal, first?: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    return this.#followers.follow(signal, async () => first ?? this.currentRun())
  }

  /** Calls `listener` with each new version of shared state. Returns a function that unsubscribes. */
  onState(listener: (version: number) => void): () => void {
    return this.#followers.onState(listener)
  }

  /** Time of the last run event here, in epoch milliseconds. */
  get heardAt(): number {
    return this.#heardAt
  }

  /**
   * Releases memory that can be rebuilt from the log. The next command creates a new agent. Does nothing during a run, or while a client
   * follows the session.
   */
  rest(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.isWatched || (await this.isRunning())) return
      this.recorded.rest()
      if (this.#agent.isMade) await this.#release()
    })
  }

  /** Stops the active run. If the run was interrupted or is active in another process, records its end so that it is not resumed. */
  stop(): Promise<void> {
    return this.#stopAsking(async () => {
      const run = (await this.#agent.inMemory())?.currentRun
      run?.abort()
      await run?.result
      const unfinished = await this.recorded.unfinished()
      if (unfinished === undefined) return
      await this.recorded.end(unfinished, { status: 'aborted' })
      // The agent does not know that the run has ended.
      this.#agent.drop()
    })
  }

  /** Calls `act` with the log, while no agent writes to it. Throws `AgentBusyError` during a run. */
  withLog<Value>(act: (store: SessionStore) => Promise<Value>): Promise<Value> {
    return this.#mutex.run(async () => {
      if (await this.isRunning()) throw new AgentBusyError()
      // Flush pending writes.
      await (await this.inMemory())?.close()
      return act(this.store)
    })
  }

  /** Stops the active run and deletes the session. Resolves with whether it existed. */
  delete(): Promise<boolean> {
    return this.#stopAsking(async () => {
      await this.#release()
      this.#agent.dropContext()
      await this.schedules?.delete()
      return this.#host.store.delete(this.#host.sessionId)
    })
  }

  /** Releases the agent, because the session was deleted or replaced. */
  forget(): void {
    this.#agent.forget()
    this.#agent.dropContext()
  }

  /**
   * Stops the active run and releases ownership, so that the session can continue in another process. Rejects later requests. With a
   * `deadline`, rejects like `handOver`.
   */
  leave(deadline?: AbortSignal): Promise<void> {
    const left = this.#stopAsking(async () => {
      this.#hasLeft = true
      await this.#release()
    }, leaving)
    return deadline === undefined ? left : withDeadline(deadline, left, () => this.#giveUp())
  }

  /**
   * Like `leave`, but leaves the active run to the process that recovers the session. Waits for the current turn until `deadline` aborts.
   * Pending calls stay pending. Then stops recording and disconnects readers. Rejects if another operation, such as an export, still uses
   * the session 3 s later.
   */
  handOver(deadline: AbortSignal): Promise<void> {
    const handing = this.#stopAsking(async () => {
      this.#hasLeft = true
      const agent = await this.#agent.inMemory()
      if (agent?.currentRun !== undefined) await untilHandedOver(agent, agent.currentRun, deadline)
      if (agent?.currentRun !== undefined) this.#writing.revoke()
      await this.#release()
    }, leaving)
    return withDeadline(deadline, handing, () => this.#giveUp())
  }

  /** Stops recording, because another operation still uses the session. */
  #giveUp(): void {
    this.#hasLeft = true
    this.#writing.revoke()
  }

  async #release(): Promise<void> {
    if (this.#hasLeft) this.#watch.close()
    const agent = await this.#agent.inMemory()
    const run = agent?.currentRun
    run?.abort()
    await run?.result
    this.#agent.forget()
    await agent?.close()
  }

  /** Runs an action after all earlier actions. First rejects earlier actions that are waiting for a run's context. */
  #stopAsking<Value>(act: () => Promise<Value>, problem?: Problem): Promise<Value> {
    const goOn = this.#agent.stopAsking(problem)
    return this.#mutex.run(act).finally(goOn)
  }
}

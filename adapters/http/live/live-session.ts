import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import { type Agent, AgentBusyError, type AgentEvent, type AgentMessage, type AgentRun, type SessionStore } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import { leaving, ProblemError } from '../access/problem.ts'
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
 * The agent of one session in memory, and its recorded runs. All hosts share this class.
 *
 * **Contract**
 * - Reads create no agent, claim no ownership and resume no run. They also work if another process owns the session, or if no
 *   agent can be created.
 * - Commands and `recover` get an agent and resume its unfinished run, unless another writer owns the session.
 * - The last run stays readable until the session is evicted from memory.
 */
export class LiveSession {
  readonly #host: LiveSessionHost
  readonly sessionId: string
  readonly caller: Caller
  readonly store: SessionStore
  /** The stored records of the session. */
  readonly recorded: RecordedSession
  /** Large media in its events. */
  readonly media: NamedMedia
  readonly #agent: SessionAgent
  /** Starts its runs. */
  readonly starts: RunStarter
  /** Versions of shared state by the idempotency keys of clients. */
  readonly #stateChanges = new IdempotencyCache<number>()
  /** Messages that clients have queued for runs. */
  readonly queued = new QueuedInputs()
  /** Runs that requests of clients have started. */
  readonly pageRuns = new PageRuns()
  /** Serializes what begins, replaces or releases the agent, so that two concurrent starts cannot create two of it. */
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

  /** Aborts when a run moves to another process: its readers have to reconnect. */
  get takenOver(): AbortSignal {
    return this.#writing.revoked
  }

  /** Returns the agent for a command; an interrupted run is resumed first. */
  agent(): Promise<Agent> {
    if (this.#hasLeft) return Promise.reject(new ProblemError(leaving))
    return this.#agent.opened()
  }

  /** Continues with an agent of this process that other code also uses. */
  adopt(agent: Agent): Promise<void> {
    return this.#mutex.run(async () => this.#agent.adopt(agent))
  }

  /** Returns the agent for a read; `undefined` if none was created. */
  inMemory(): Promise<Agent | undefined> {
    return this.#agent.inMemory()
  }

  /** Returns whether a run is active in this process. */
  async isRunning(): Promise<boolean> {
    return (await this.inMemory())?.isStreaming === true
  }

  /** Applies a change of shared state, once per `key`, also after a restart. */
  changeOnce(key: string | undefined, change: () => Promise<number>): Promise<number> {
    return this.#stateChanges.get(key, async () => (key === undefined ? undefined : this.#agent.changedUnder(key)) ?? change())
  }

  /**
   * Resumes an interrupted run, unless another writer owns the session. Resolves with whether a run is active; otherwise the
   * reason goes to `logger`.
   */
  async recover(): Promise<boolean> {
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.continuedRun()) !== undefined
  }

  /** Takes ownership of the log: earlier writers can append nothing more, so later reads are complete. */
  claim(): Promise<void> {
    this.#claim ??= this.recorded.claim().catch((error: unknown) => {
      this.#claim = undefined
      throw error
    })
    return this.#claim
  }

  /**
   * As `recover`, but rejects if no agent can be created, so that the host can retry. If sessions move, it first claims the
   * session, because the previous owner may not know yet that it lost it.
   */
  async takeOver(): Promise<boolean> {
    if (this.#host.moves === true && !this.#agent.isMade) await this.claim()
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.agent()).currentRun !== undefined
  }

  /** Called by a host that keeps its process alive. Resolves with whether a run still needs it. */
  async keepAlive(): Promise<boolean> {
    const { isStreaming } = await this.agent()
    this.#host.runs[isStreaming ? 'keep' : 'close']()
    return isStreaming
  }

  /** Returns the run that is active in this process. */
  async currentRun(): Promise<AgentRun | undefined> {
    return (await this.inMemory())?.currentRun
  }

  /**
   * Returns the active run for a command; after a restart, the resumed run. Returns `undefined` also if no agent can be created;
   * the reason goes to `logger`.
   */
  async continuedRun(): Promise<AgentRun | undefined> {
    if (!this.#agent.isMade && !(await this.recorded.isKnown())) return undefined
    try {
      return (await this.agent()).currentRun
    } catch (error) {
      // Later requests are handled by the new owner.
      if (this.#hasLeft) throw error
      logWarning(this.#host.logger, 'agentFailed', { message: errorText(error) })
      return undefined
    }
  }

  /** Returns the run of this loop or id while it is in memory. */
  async runOf({ loopId, runId }: { loopId: string; runId?: string }): Promise<AgentRun | undefined> {
    return [await this.currentRun(), this.#agent.latest?.run].find(
      (run) => run !== undefined && (run.loopId === loopId || run.id === runId),
    )
  }

  /** Returns the conversation before `run`; empty if `run` is not the last one. */
  historyBefore(run: AgentRun): readonly AgentMessage[] {
    const { latest } = this.#agent
    return latest?.run === run ? latest.agent.messages.slice(0, latest.length) : []
  }

  /** Returns the active run, as `continuedRun`, or the last one of this process. */
  async latestRun(): Promise<AgentRun | undefined> {
    return (await this.continuedRun()) ?? this.#agent.latest?.run
  }

  /** The state of the calls of that run. */
  get calls(): CallProgress {
    return this.#agent.calls
  }

  /** Numbers of pending calls and of queued messages. */
  get waiting(): { approvals: number; messages: number } {
    const run = this.#agent.latest?.run
    const calls = [...(run?.pendingApprovals() ?? []), ...(run?.pendingClientCalls() ?? [])]
    return { approvals: calls.length, messages: this.queued.waiting().length }
  }

  /** Scheduled prompts; `undefined` if the host stores none. */
  get schedules(): SessionSchedules | undefined {
    return this.#host.schedules
  }

  /** Registers a connected client. Returns how to unregister it. */
  enter(): () => void {
    return this.#watch.enter()
  }

  /** Whether a client follows the session across runs. */
  get isWatched(): boolean {
    return this.#followers.size > 0
  }

  /**
   * Yields the events of the active run, then those of each later run, until `signal` aborts. With `first` it begins with these
   * events of the active or last run.
   */
  follow(signal: AbortSignal, first?: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    return this.#followers.follow(signal, async () => first ?? this.currentRun())
  }

  /** Calls `listener` with each new version of shared state; returns how to stop. */
  onState(listener: (version: number) => void): () => void {
    return this.#followers.onState(listener)
  }

  /** Epoch milliseconds of the last event of a run here. */
  get heardAt(): number {
    return this.#heardAt
  }

  /**
   * Releases what the log has: the next command creates another agent. Does nothing during a run, or while a client follows the
   * session.
   */
  rest(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.isWatched || (await this.isRunning())) return
      this.recorded.rest()
      if (this.#agent.isMade) await this.#release()
    })
  }

  /** Stops the active run. For a run that was interrupted, or is active elsewhere, records its end, so that it is not resumed. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      const run = (await this.#agent.inMemory())?.currentRun
      run?.abort()
      await run?.result
      const unfinished = await this.recorded.unfinished()
      if (unfinished === undefined) return
      await this.recorded.end(unfinished, { status: 'aborted' })
      // The agent does not know that end.
      this.#agent.drop()
    })
  }

  /** Calls `act` with the log while no agent writes to it. Throws `AgentBusyError` during a run. */
  withLog<Value>(act: (store: SessionStore) => Promise<Value>): Promise<Value> {
    return this.#mutex.run(async () => {
      if (await this.isRunning()) throw new AgentBusyError()
      // Flushes pending writes.
      await (await this.inMemory())?.close()
      return act(this.store)
    })
  }

  /** Stops the active run and deletes the session. Resolves with whether it existed. */
  delete(): Promise<boolean> {
    return this.#mutex.run(async () => {
      await this.#release()
      await this.schedules?.delete()
      return this.#host.store.delete(this.#host.sessionId)
    })
  }

  /** Releases the agent, because the session was deleted. */
  forget(): void {
    this.#agent.forget()
  }

  /**
   * Stops the active run and releases ownership, so that the session can continue elsewhere. Later requests are refused. Rejects
   * as `handOver` does if there is a `deadline`.
   */
  leave(deadline?: AbortSignal): Promise<void> {
    const leaving = this.#mutex.run(async () => {
      this.#hasLeft = true
      await this.#release()
    })
    return deadline === undefined ? leaving : withDeadline(deadline, leaving, () => this.#giveUp())
  }

  /**
   * As `leave`, but leaves the active run to the process that recovers the session. The current turn may finish until `deadline`
   * aborts; pending calls stay pending. Afterwards nothing of the run is recorded, and its readers are disconnected. Rejects if
   * something else, such as an export, still holds the session 3 s later; nothing more is recorded then either.
   */
  handOver(deadline: AbortSignal): Promise<void> {
    const handing = this.#mutex.run(async () => {
      this.#hasLeft = true
      const agent = await this.#agent.inMemory()
      if (agent?.currentRun !== undefined) await untilHandedOver(agent, agent.currentRun, deadline)
      if (agent?.currentRun !== undefined) this.#writing.revoke()
      await this.#release()
    })
    return withDeadline(deadline, handing, () => this.#giveUp())
  }

  /** Stops recording because something still holds the session. */
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
    this.forget()
    await agent?.close()
  }
}

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
 * The agent of one session in memory, and its runs as they are in the log: what every host has in common.
 *
 * **Contract**
 * - Reading takes nothing from anybody: it makes no agent, claims no right to write and goes on with no run. So it works where another process has the
 *   session, and where no agent can be made.
 * - Who changes something, or `recover`s the session, gets an agent with its unfinished run on again, unless another writer holds the session.
 * - The last run stays readable after its end, until the session leaves the memory.
 */
export class LiveSession {
  readonly #host: LiveSessionHost
  readonly sessionId: string
  readonly caller: Caller
  readonly store: SessionStore
  /** What its store has of the session. */
  readonly recorded: RecordedSession
  /** Large media of its events. */
  readonly media: NamedMedia
  readonly #agent: SessionAgent
  /** Begins its runs. */
  readonly starts: RunStarter
  /** The versions of shared state that clients have made under keys of theirs. */
  readonly #stateChanges = new IdempotencyCache<number>()
  /** What clients have said to runs that were on. */
  readonly queued = new QueuedInputs()
  /** The runs that requests of pages have begun. */
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
      isElsewhere: () => this.goneElsewhere.aborted,
    })
  }

  /** Aborts when a run is left to another process: who follows it here has to ask again. */
  get goneElsewhere(): AbortSignal {
    return this.#writing.revoked
  }

  /** The agent, for who changes something; a run that a restart has cut off is on again. */
  agent(): Promise<Agent> {
    if (this.#hasLeft) return Promise.reject(new ProblemError(leaving))
    return this.#agent.opened()
  }

  /** Goes on with an agent of this process, which others use as well. */
  adopt(agent: Agent): Promise<void> {
    return this.#mutex.run(async () => this.#agent.adopt(agent))
  }

  /** The agent, for who only reads; undefined where none was made. */
  inMemory(): Promise<Agent | undefined> {
    return this.#agent.inMemory()
  }

  /** Whether a run is on, as far as this process knows. */
  async isRunning(): Promise<boolean> {
    return (await this.inMemory())?.isStreaming === true
  }

  /** What `change` makes of the shared state; once for each `key`, also after a restart. */
  changeOnce(key: string | undefined, change: () => Promise<number>): Promise<number> {
    return this.#stateChanges.get(key, async () => (key === undefined ? undefined : this.#agent.changedUnder(key)) ?? change())
  }

  /** Takes up the run that a process has left, unless another writer holds the session. Resolves with whether one is on: `logger` learns why not. */
  async recover(): Promise<boolean> {
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.continuedRun()) !== undefined
  }

  /** Nobody who had it writes anything more in it: what is read from now on is all that there is. */
  claim(): Promise<void> {
    this.#claim ??= this.recorded.claim().catch((error: unknown) => {
      this.#claim = undefined
      throw error
    })
    return this.#claim
  }

  /**
   * As `recover`. Rejects where no agent can be made: for a host that tries again. Where sessions move, the process that had this one may not know yet that it is another's:
   * it is claimed first.
   */
  async takeOver(): Promise<boolean> {
    if (this.#host.moves === true && !this.#agent.isMade) await this.claim()
    const isLeft = this.#agent.isMade || isCutOff(await this.recorded.records())
    return isLeft && (await this.agent()).currentRun !== undefined
  }

  /** Called by a host that keeps its process awake: says whether a run needs it further. */
  async keepAlive(): Promise<boolean> {
    const { isStreaming } = await this.agent()
    this.#host.runs[isStreaming ? 'keep' : 'close']()
    return isStreaming
  }

  /** The run that is on in this process. */
  async currentRun(): Promise<AgentRun | undefined> {
    return (await this.inMemory())?.currentRun
  }

  /**
   * The run that is on, for who changes something: after a restart, the one that is on again. Undefined also where no agent can be made: `logger` learns
   * why.
   */
  async continuedRun(): Promise<AgentRun | undefined> {
    if (!this.#agent.isMade && !(await this.recorded.isKnown())) return undefined
    try {
      return (await this.agent()).currentRun
    } catch (error) {
      // Whoever asks again is answered elsewhere.
      if (this.#hasLeft) throw error
      logWarning(this.#host.logger, 'agentFailed', { message: errorText(error) })
      return undefined
    }
  }

  /** The run of this loop, or of this id, as long as it is in memory. */
  async runOf({ loopId, runId }: { loopId: string; runId?: string }): Promise<AgentRun | undefined> {
    return [await this.currentRun(), this.#agent.latest?.run].find(
      (run) => run !== undefined && (run.loopId === loopId || run.id === runId),
    )
  }

  /** The conversation as `run` found it; empty for a run that is not the last one. */
  historyBefore(run: AgentRun): readonly AgentMessage[] {
    const { latest } = this.#agent
    return latest?.run === run ? latest.agent.messages.slice(0, latest.length) : []
  }

  /** The run that is on, as `continuedRun`, or the one that was on last in this process. */
  async latestRun(): Promise<AgentRun | undefined> {
    return (await this.continuedRun()) ?? this.#agent.latest?.run
  }

  /** What became of the calls of that run. */
  get calls(): CallProgress {
    return this.#agent.calls
  }

  /** How many calls wait for a person or a page, and how many messages to be heard. */
  get waiting(): { approvals: number; messages: number } {
    const run = this.#agent.latest?.run
    const calls = [...(run?.pendingApprovals() ?? []), ...(run?.pendingClientCalls() ?? [])]
    return { approvals: calls.length, messages: this.queued.waiting().length }
  }

  /** Its prompts that are said later; undefined where the host keeps none. */
  get schedules(): SessionSchedules | undefined {
    return this.#host.schedules
  }

  /** A client is connected, until what this returns is called. */
  enter(): () => void {
    return this.#watch.enter()
  }

  /** Whether somebody follows the session, from run to run. */
  get isWatched(): boolean {
    return this.#followers.size > 0
  }

  /**
   * The events of the run that is on, then those of each that begins, until `signal` is aborted. With `first` it begins with these, of the run that
   * is on or was the last.
   */
  follow(signal: AbortSignal, first?: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
    return this.#followers.follow(signal, async () => first ?? this.currentRun())
  }

  /** Calls `listener` with each version of shared state from now on; returns how to stop. */
  onState(listener: (version: number) => void): () => void {
    return this.#followers.onState(listener)
  }

  /** Epoch ms of the last event of a run here. */
  get heardAt(): number {
    return this.#heardAt
  }

  /** Keeps nothing that the log has: the next command gets another agent. Not while a run is on, or somebody follows the session. */
  rest(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.isWatched || (await this.isRunning())) return
      this.recorded.rest()
      if (this.#agent.isMade) await this.#release()
    })
  }

  /** Stops the run that is on. If one was cut off, or is on elsewhere, its end is written: it is not taken up again. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      const run = (await this.#agent.inMemory())?.currentRun
      run?.abort()
      await run?.result
      const unfinished = await this.recorded.unfinished()
      if (unfinished === undefined) return
      await this.recorded.end(unfinished, { status: 'aborted' })
      // It does not know that end.
      this.#agent.drop()
    })
  }

  /** Does something with the whole log, while no agent writes to it. Throws `AgentBusyError` while a run is on. */
  withLog<Value>(act: (store: SessionStore) => Promise<Value>): Promise<Value> {
    return this.#mutex.run(async () => {
      if (await this.isRunning()) throw new AgentBusyError()
      // Has written what it has not written yet.
      await (await this.inMemory())?.close()
      return act(this.store)
    })
  }

  /** Stops what is on and deletes all that was said. Resolves with whether there was anything. */
  delete(): Promise<boolean> {
    return this.#mutex.run(async () => {
      await this.#release()
      await this.schedules?.delete()
      return this.#host.store.delete(this.#host.sessionId)
    })
  }

  /** Forgets the agent, because its session is gone. */
  forget(): void {
    this.#agent.forget()
  }

  /**
   * Stops what is on and gives back the right to write: the session can go on elsewhere. Who asks this one from now on is refused. Rejects as `handOver` where
   * there is a `deadline`.
   */
  leave(deadline?: AbortSignal): Promise<void> {
    const leaving = this.#mutex.run(async () => {
      this.#hasLeft = true
      await this.#release()
    })
    return deadline === undefined ? leaving : withDeadline(deadline, leaving, () => this.#giveUp())
  }

  /**
   * As `leave`, but the run that is on is left to the process that recovers the session. The turn that is on may end until `deadline` aborts; what waits for
   * a person goes on waiting. Nothing of the run is recorded after that, and who follows it is cut off. Rejects where something else, an export say, still
   * holds the session 3 s later; then nothing more is recorded either.
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

  /** Something holds the session that does not end: nothing is recorded here any more. */
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

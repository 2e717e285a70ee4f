import { type Agent, AgentBusyError, type AgentRun } from '../../../src/index.ts'
import { findPausedTurn } from '../../../src/internal.ts'
import { ProblemError } from '../access/problem.ts'
import { IdempotencyCache } from './commands/queued-inputs.ts'
import type { RevocableStore } from './hand-over.ts'
import type { LiveSessionHost, Place } from './live-session-host.ts'
import type { RecordedSession } from './read/recorded-session.ts'
import type { RunContext, StartContext } from './run-context.ts'
import type { SessionAgent } from './session-agent.ts'

/** Starts a run on an agent, with its context. */
export type StartRun = (agent: Agent, own: RunContext) => AgentRun

/** A run's start point and context. */
export interface Beginning extends Place {
  /** Returns the context of the starting request. Default: the host supplies the context. */
  start?: StartContext | undefined
  /** Reason reported to the host. Default: `start`. */
  reason?: 'queued'
  /** Whether the run continues another run and keeps its context. With `ifPending`, only if calls in that run are pending. */
  continues?: boolean | 'ifPending'
  /** Whether the run is a compaction, after which the previous run can still continue with its context. */
  isCompaction?: boolean
}

interface RunStarterParts {
  host: LiveSessionHost
  agent: SessionAgent
  /** Returns the agent for a command. Rejects if the session was released. */
  opened: () => Promise<Agent>
  /** Returns the active run. Resumes an interrupted run. */
  continued: () => Promise<AgentRun | undefined>
  recorded: RecordedSession
  writing: RevocableStore
  mutex: Mutex
}

/** Starts one session's runs if the host has capacity. Starts one run at a time, and each run once per key. */
export class RunStarter {
  readonly #parts: RunStarterParts
  /** Loops by client idempotency key. */
  readonly #begunByKey = new IdempotencyCache<string>()

  constructor(parts: RunStarterParts) {
    this.#parts = parts
  }

  /**
   * Like `begin`, once per `key`: a retrying client gets the first request's loop, even after a restart. If `key` is the message id, also
   * recognizes a prompt that an older version recorded, by its message.
   */
  once(key: string, start: StartRun, place: Beginning = {}): Promise<string> {
    const { agent: ofSession, opened, recorded } = this.#parts
    return this.#begunByKey.get(key, async () => {
      const agent = await opened()
      const isRecorded = agent.messages.some(({ id }) => id === key)
      const begun = ofSession.begunUnder(key) ?? (isRecorded ? await recorded.loopOf(key) : undefined)
      return begun ?? (await this.begin(start, { ...place, key })).loopId
    })
  }

  /**
   * Starts a run with `start`. If `from` is set, the run starts at the end of that loop. Throws `ProblemError` if no run may start,
   * `ProblemError` 404 for an unknown loop, `AgentBusyError` during a run, and errors from `start`. An error leaves the session unchanged.
   */
  begin(start: StartRun, { key, ...place }: Beginning & { key?: string } = {}): Promise<AgentRun> {
    const { agent, mutex } = this.#parts
    return mutex.run(async () => {
      await agent.dropOutdated()
      return place.from === undefined ? this.#begin(start, place, key) : this.#beginFrom(place.from, start, place, key)
    })
  }

  async #begin(start: StartRun, place: Beginning, key: string | undefined): Promise<AgentRun> {
    const { host, agent: ofSession, opened, writing } = this.#parts
    const agent = await opened()
    // Let the agent report that it is busy.
    if (agent.isStreaming) return start(agent, {})
    const problem = await host.runs.open()
    if (problem !== undefined) throw new ProblemError(problem)
    try {
      const own = await ofSession.unlessStopped(this.#contextOf(agent, place))
      const before = ofSession.contextOf(agent)
      await host.keepAwake?.()
      const run = key === undefined ? start(agent, own) : writing.under(key, () => start(agent, own))
      ofSession.keepContext(run, place.isCompaction === true ? before : own)
      // A reader requests the history before the first event.
      ofSession.note(agent)
      return run
    } catch (error) {
      host.runs.close()
      throw error
    }
  }

  /**
   * Returns the context for a run, either from the run that it continues or from the starting request. Pending calls never
   * receive another caller's context.
   */
  async #contextOf(agent: Agent, { start, reason, continues = false }: Beginning): Promise<RunContext> {
    const { host, agent: ofSession } = this.#parts
    // Include calls that wait for no client, but whose process ended before they started.
    const isPending = findPausedTurn(agent.messages) !== undefined
    const goesOn = continues === true || (continues === 'ifPending' && isPending)
    const kept = goesOn ? ofSession.contextOf(agent) : undefined
    if (kept !== undefined) return kept
    if (start !== undefined && !(goesOn && isPending)) return start()
    return (await host.contextFor?.(goesOn ? 'recover' : (reason ?? 'start'))) ?? {}
  }

  /** Starts a run at the end of this loop. If this fails, the session's position is unchanged. */
  async #beginFrom(loopId: string, start: StartRun, place: Beginning, key: string | undefined): Promise<AgentRun> {
    const { agent, continued } = this.#parts
    if ((await continued()) !== undefined) throw new AgentBusyError()
    const back = await agent.moveTo(loopId)
    try {
      return await this.#begin(start, place, key)
    } catch (error) {
      await back()
      throw error
    }
  }
}

/** Runs actions one at a time, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `act` after all earlier actions have ended. Settles like `act`. */
  run<Value>(act: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}

import { type Agent, AgentBusyError, type AgentRun } from '../../../src/index.ts'
import { ProblemError } from '../access/problem.ts'
import { IdempotencyCache } from './commands/queued-inputs.ts'
import type { RevocableStore } from './hand-over.ts'
import type { LiveSessionHost, Place } from './live-session-host.ts'
import type { RecordedSession } from './read/recorded-session.ts'
import type { SessionAgent } from './session-agent.ts'

interface RunStarterParts {
  host: LiveSessionHost
  agent: SessionAgent
  /** Returns the agent for a command. Rejects if the session was released. */
  opened: () => Promise<Agent>
  /** Returns the active run; an interrupted one is resumed. */
  continued: () => Promise<AgentRun | undefined>
  recorded: RecordedSession
  writing: RevocableStore
  mutex: Mutex
}

/** Starts the runs of one session: one at a time, if the host has room, and each once per key. */
export class RunStarter {
  readonly #parts: RunStarterParts
  /** Loops by the idempotency keys of clients. */
  readonly #begunByKey = new IdempotencyCache<string>()

  constructor(parts: RunStarterParts) {
    this.#parts = parts
  }

  /**
   * As `begin`, once per `key`: a client that retries gets the loop of the first request, also after a restart. A prompt of an
   * older version is recognized by its message, if `key` is the id of that.
   */
  once(key: string, start: (agent: Agent) => AgentRun, place: Place = {}): Promise<string> {
    const { agent: ofSession, opened, recorded } = this.#parts
    return this.#begunByKey.get(key, async () => {
      const agent = await opened()
      const isRecorded = agent.messages.some(({ id }) => id === key)
      const begun = ofSession.begunUnder(key) ?? (isRecorded ? await recorded.loopOf(key) : undefined)
      return begun ?? (await this.begin(start, { ...place, key })).loopId
    })
  }

  /**
   * Starts a run with `start`; with `from`, at the end of that loop. Throws `ProblemError` if none may start, 404 for an unknown
   * loop, `AgentBusyError` during a run, and what `start` throws; then the session is unchanged.
   */
  begin(start: (agent: Agent) => AgentRun, { from, key }: Place & { key?: string } = {}): Promise<AgentRun> {
    const { agent, mutex } = this.#parts
    return mutex.run(async () => {
      await agent.dropOutdated()
      return from === undefined ? this.#begin(start, key) : this.#beginFrom(from, start, key)
    })
  }

  async #begin(start: (agent: Agent) => AgentRun, key: string | undefined): Promise<AgentRun> {
    const { host, agent: ofSession, opened, writing } = this.#parts
    const agent = await opened()
    // The agent reports itself that it is busy.
    if (agent.isStreaming) return start(agent)
    const problem = await host.runs.open()
    if (problem !== undefined) throw new ProblemError(problem)
    try {
      await host.keepAwake?.()
      const run = key === undefined ? start(agent) : writing.under(key, () => start(agent))
      // A reader asks for the history before its first event.
      ofSession.note(agent)
      return run
    } catch (error) {
      host.runs.close()
      throw error
    }
  }

  /** Starts a run at the end of this loop. If that fails, the session stays where it was. */
  async #beginFrom(loopId: string, start: (agent: Agent) => AgentRun, key: string | undefined): Promise<AgentRun> {
    const { agent, continued } = this.#parts
    if ((await continued()) !== undefined) throw new AgentBusyError()
    const back = await agent.moveTo(loopId)
    try {
      return await this.#begin(start, key)
    } catch (error) {
      await back()
      throw error
    }
  }
}

/** Runs actions one at a time, in the order of the calls. */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `act` once every action before it has ended; resolves or rejects as `act` does. */
  run<Value>(act: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(act)
    this.#last = done.catch(() => undefined)
    return done
  }
}

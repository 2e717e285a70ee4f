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
  /** The agent, for who changes something. It rejects where the session has left. */
  opened: () => Promise<Agent>
  /** The run that is on; one that was cut off is on again. */
  continued: () => Promise<AgentRun | undefined>
  recorded: RecordedSession
  writing: RevocableStore
  mutex: Mutex
}

/** Begins the runs of one session: one at a time, where its host has room, and each once for its key. */
export class RunStarter {
  readonly #parts: RunStarterParts
  /** The loops that clients have asked for under keys of theirs. */
  readonly #begunByKey = new IdempotencyCache<string>()

  constructor(parts: RunStarterParts) {
    this.#parts = parts
  }

  /**
   * As `begin`, once for each `key`: a caller who asks again, because the answer was lost, learns the loop that was begun the first time, also after a restart. A
   * prompt of an older version is known by its message, where `key` is the id of that.
   */
  once(key: string, start: (agent: Agent) => AgentRun, place: Place = {}): Promise<string> {
    const { agent: ofSession, opened, recorded } = this.#parts
    return this.#begunByKey.get(key, async () => {
      const agent = await opened()
      const isSaid = agent.messages.some(({ id }) => id === key)
      const begun = ofSession.begunUnder(key) ?? (isSaid ? await recorded.loopOf(key) : undefined)
      return begun ?? (await this.begin(start, { ...place, key })).loopId
    })
  }

  /**
   * Begins a run with what `start` does to the agent; with `from`, from the end of that loop, not from what was said last. Throws `ProblemError`
   * where none may begin, 404 for a loop that is none of the session, `AgentBusyError` while one is on, and what `start` throws; then the session is
   * where it was.
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
    // It says itself that it is busy.
    if (agent.isStreaming) return start(agent)
    const problem = await host.runs.open()
    if (problem !== undefined) throw new ProblemError(problem)
    try {
      await host.keepAwake?.()
      const run = key === undefined ? start(agent) : writing.under(key, () => start(agent))
      // Whoever streams it asks for the history before its first event.
      ofSession.note(agent)
      return run
    } catch (error) {
      host.runs.close()
      throw error
    }
  }

  /** Begins a run at the end of this loop. Where none begins, the session stays where it was. */
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

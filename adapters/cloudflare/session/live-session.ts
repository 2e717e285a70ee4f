import {
  Agent,
  type AgentOptions,
  type AgentRun,
  ConfigError,
  type Logger,
  resumeAgent,
  SessionError,
  type SessionRecord,
  type SessionStore,
} from '../../../src/index.ts'
import type { Problem } from '../../http/index.ts'
import type { ObjectStorage } from './durable-object.ts'
import { errorText } from './error-text.ts'
import type { OpenRuns } from './open-runs.ts'
import { maxAttempts, ResumeAttempts } from './resume-attempts.ts'
import type { SessionAddress } from './session-address.ts'
import type { SqliteLog } from './sqlite-log.ts'
import { continuationOf, endRun, progressOf, type UnfinishedRun, unfinishedRun } from './unfinished-run.ts'

/** What an agent in an object is made with; the object adds where it is recorded. */
export type LiveAgentOptions = Omit<AgentOptions, 'session' | 'journal' | 'sessionId' | 'messages'>

/** What a `LiveSession` needs of its object. */
export interface LiveSessionHost {
  readonly address: SessionAddress
  readonly store: SessionStore
  readonly storage: ObjectStorage
  /** What `store` writes to. */
  readonly log: Pick<SqliteLog, 'hasRecords' | 'otherHolder'>
  readonly runs: OpenRuns
  /** Milliseconds between alarms while a run is on. */
  readonly keepAliveMs: number
  readonly logger: Logger | undefined
  agentOptions(): LiveAgentOptions | Promise<LiveAgentOptions>
}

/**
 * The agent of one session in memory, and its run as it is in the log.
 *
 * **Contract**
 * - There is an alarm from before a run begins until after it has ended, so the platform keeps the object, or starts it again.
 * - The first who asks for the agent after a restart gets it with its unfinished run on again, unless another writer holds the session.
 * - Reading and stopping need no agent, so they work where none can be made.
 */
export class LiveSession {
  readonly #host: LiveSessionHost
  readonly #attempts: ResumeAttempts
  #agent: Promise<Agent> | undefined
  /** Who else held the session when the agent was made. */
  #knownHolder: string | undefined
  #latest: AgentRun | undefined
  /** Whether the address is stored. */
  #isKept = false

  constructor(host: LiveSessionHost) {
    this.#host = host
    this.#attempts = new ResumeAttempts(host.storage)
  }

  /** The agent; a run that a restart has cut off is on again. */
  agent(): Promise<Agent> {
    this.#agent ??= this.#open()
    const agent = this.#agent
    // Another try may work.
    agent.catch(() => this.#drop(agent))
    return agent
  }

  /** Whether anything was ever said. */
  isKnown(): boolean {
    return this.#host.log.hasRecords()
  }

  /** The agent, with an alarm set: a run may begin. Or why none may. */
  async readyAgent(): Promise<Agent | Problem> {
    await this.#dropOutdated()
    const agent = await this.agent()
    if (agent.isStreaming) return agent
    if (!(await this.#host.runs.open())) return tooManyRuns
    await this.#setAlarm()
    return agent
  }

  /** A prompt was refused after `readyAgent`: no run has begun that would count. */
  async refused(): Promise<void> {
    const agent = await this.#agent?.catch(() => undefined)
    if (agent?.isStreaming !== true) this.#host.runs.close()
  }

  /** Called by the alarm. */
  async keepAlive(): Promise<void> {
    const agent = await this.agent()
    if (!agent.isStreaming) return this.#host.runs.close()
    this.#host.runs.keep()
    await this.#setAlarm()
  }

  /** The run that is on; after a restart, the one that is on again. Undefined also where no agent can be made: `logger` learns why. */
  async currentRun(): Promise<AgentRun | undefined> {
    if (!this.isKnown() && this.#agent === undefined) return undefined
    try {
      return (await this.agent()).currentRun
    } catch (error) {
      this.#host.logger?.warn('agentFailed', { message: errorText(error) })
      return undefined
    }
  }

  /** The run of this loop, as long as it is in memory. */
  async runOf(loopId: string): Promise<AgentRun | undefined> {
    const currentRun = await this.currentRun()
    return [currentRun, this.#latest].find((run) => run?.loopId === loopId)
  }

  /** What the log says of a loop that is not in memory: whether it is known, and which one goes on with it. */
  async trace(loopId: string): Promise<{ continuedBy?: string } | undefined> {
    const running = (await this.currentRun())?.loopId
    const records = await this.#records()
    if (!records.some((record) => record.loopId === loopId)) return undefined
    const continuedBy = continuationOf(records, loopId, running)
    return continuedBy === undefined ? {} : { continuedBy }
  }

  /** Stops the run that is on. Of one that was cut off, or is on elsewhere, the end is written: it is not taken up again. */
  async stop(): Promise<void> {
    const run = (await this.#agent?.catch(() => undefined))?.currentRun
    run?.abort()
    await run?.result
    const unfinished = unfinishedRun(await this.#records())
    if (unfinished === undefined) return
    await this.#end(unfinished, { status: 'aborted' })
    // It does not know that end.
    this.#agent = undefined
  }

  /** Forgets the agent, because its session is gone. */
  forget(): void {
    const agent = this.#agent
    this.#agent = undefined
    this.#latest = undefined
    this.#isKept = false
    void agent?.then(
      (each) => each.abort(),
      () => undefined,
    )
  }

  async #open(): Promise<Agent> {
    const records = await this.#records()
    this.#knownHolder = this.#host.log.otherHolder()
    const unfinished = this.#knownHolder === undefined ? unfinishedRun(records) : undefined
    if (unfinished === undefined) return this.#make(records.length > 0)
    if (await this.#attempts.begin(progressOf(records))) return this.#goOn(unfinished)
    const message = `The run was cut off and taken up ${maxAttempts} times, and completed no turn. It is not taken up again.`
    await this.#end(unfinished, { status: 'error', error: { code: 'interrupted', message } })
    return this.#make(true)
  }

  async #goOn(unfinished: UnfinishedRun): Promise<Agent> {
    const agent = await this.#make(true).catch(async (error: unknown) => {
      await this.#attempts.takeBack()
      throw error
    })
    await this.#setAlarm()
    try {
      agent.continueLoop()
      this.#host.runs.keep()
      return agent
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
    }
    // Nothing is left to do: only its end is missing, or it never got its input.
    const message = 'The process ended before the input of this run was stored. Send it again.'
    await this.#end(
      unfinished,
      unfinished.isAnswered ? { status: 'completed' } : { status: 'error', error: { code: 'interrupted', message } },
    )
    return this.#make(true)
  }

  #end(unfinished: UnfinishedRun, outcome: Parameters<typeof endRun>[3]): Promise<void> {
    return endRun(this.#host.store, this.#host.address.sessionId, unfinished, outcome)
  }

  async #make(isKnown: boolean): Promise<Agent> {
    const { store, address } = this.#host
    const { sessionId } = address
    const options = await this.#host.agentOptions()
    const agent = isKnown ? await resumeAgent(store, sessionId, options) : new Agent({ ...options, sessionId, session: store })
    agent.subscribe((event) => {
      if (event.type === 'agentStart') this.#latest = agent.currentRun
      if (event.type === 'agentEnd') this.#host.runs.close()
      if (event.type === 'agentEnd' && event.error?.code === 'journal') void this.#distrust(agent)
    })
    return agent
  }

  /** What this agent has in memory is not what is in the log; the next run begins from there. */
  async #distrust(agent: Agent): Promise<void> {
    const current = this.#agent
    if ((await current) === agent && current !== undefined) this.#drop(current)
  }

  /** An agent that rests does not know what another writer has written since it was made. */
  async #dropOutdated(): Promise<void> {
    const holder = this.#host.log.otherHolder()
    const current = this.#agent
    if (holder === undefined || holder === this.#knownHolder || current === undefined) return
    const agent = await current.catch(() => undefined)
    if (agent?.isStreaming !== true) this.#drop(current)
  }

  async #records(): Promise<readonly SessionRecord[]> {
    try {
      return (await this.#host.store.tail(this.#host.address.sessionId)).records
    } catch (error) {
      if (SessionError.isInstance(error) && error.code === 'notFound') return []
      throw error
    }
  }

  async #setAlarm(): Promise<void> {
    const { storage, address, keepAliveMs } = this.#host
    // An alarm does not say which session it is for. Not kept before there is a run: whoever only asks leaves nothing behind.
    if (!this.#isKept) await storage.put('address', address)
    this.#isKept = true
    await storage.setAlarm(Date.now() + keepAliveMs)
  }

  #drop(agent: Promise<Agent>): void {
    if (this.#agent === agent) this.#agent = undefined
  }
}

const tooManyRuns: Problem = {
  status: 429,
  code: 'tooManyRuns',
  detail: 'As many runs are on as may be at once. Wait for one to end, stop one, or raise maxOpenRuns on the server.',
}

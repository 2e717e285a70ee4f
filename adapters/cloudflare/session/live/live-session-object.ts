import type { Agent, Logger } from '../../../../src/index.ts'
import type { EventKeeping } from '../../../../src/internal.ts'
import { logSessionStore, withEvents } from '../../../../src/session.ts'
import {
  bookSchedules,
  type LiveAgentOptions,
  LiveSession,
  type ScheduleEntry,
  type SessionRoutes,
  SessionSchedules,
} from '../../../http/index.ts'
import type { EndNotice, RouteOptions, WaitingNotice } from '../../../http/internal.ts'
import {
  deadlineExceeded,
  liveSessionRoutes,
  problemResponse,
  routeDefaults,
  Scheduler,
  sayIn,
  sessionGateway,
  shareOfNamed,
} from '../../../http/internal.ts'
import { localLog, objectLogDriver } from '../object/durable-object-session-store.ts'
import { SessionIndex } from '../object/index-object.ts'
import { identityOf, isTooLate, type ObjectAddress, readAddress } from '../object/session-address.ts'
import { SessionObject } from '../object/session-object.ts'
import type { ObjectNamespace, ObjectState } from '../workers-platform.ts'
import { OpenRuns } from './open-runs.ts'
import { ResumeAttempts } from './resume-attempts.ts'

/** A session once its object knows which one it is. */
interface Begun {
  live: LiveSession
  scheduler: Scheduler
  routes: SessionRoutes
}

/**
 * A Durable Object in which the agent of one session lives: it runs without a client, and goes on after an eviction. Extend it, export your
 * class, bind it with SQLite, and pass requests on with `forwardToSession`.
 *
 * - `POST /runs` with `{ "prompt": "…" }` starts a run and streams its events, as `createAgentApp` does. 409 while a run is on.
 * - `GET /runs/:loopId/events` reads on after `Last-Event-ID`. 410 `gone` when the object has been restarted since: then `GET /` has what was
 *   stored, and `continuedBy` names the loop that goes on with the run.
 * - `GET /` gives `{ session, runningLoopId? }`. `POST /stop` stops the run, also one that was cut off.
 * - 404 for a session in which nothing was said.
 *
 * **Contract**
 * - A client that leaves stops nothing.
 * - While a run is on an alarm every 20 s keeps the object. When the platform ends it all the same, the alarm or the next request starts it
 *   again, and the run goes on from what the log has: a finished answer is not asked for again, and a tool that was begun is not run again
 *   unless it is idempotent.
 * - A run is taken up at most three times without completing a turn; then its end is written with status `error`, code `interrupted`.
 * - When `agentOptions` throws, that is no attempt: the session can be read and stopped, and the next request tries again.
 * - `durableObjectSessionStore` reads the same sessions. An agent that opens one there takes it over from the run, and the object does not take it
 *   back until that writer is closed, or a client prompts or stops the session here.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * export class Conversation extends LiveSessionObject<Bindings> {
 *   protected agentOptions() {
 *     return { model: anthropic('claude-sonnet-4-6', { apiKey: this.env.ANTHROPIC_API_KEY }), tools: [weather] }
 *   }
 *   protected override index() {
 *     return this.env.INDEX
 *   }
 * }
 * ```
 */
export abstract class LiveSessionObject<Bindings> extends SessionObject {
  protected readonly env: Bindings
  /** Milliseconds between the alarms of a run. */
  protected readonly keepAliveMs: number = 20_000
  /** Largest body of a request, in bytes. */
  protected readonly maxBodyBytes: number = routeDefaults.maxBodyBytes
  /** Milliseconds in which a body must be there. */
  protected readonly bodyTimeoutMs: number = routeDefaults.bodyTimeoutMs
  /** Answers that stream at once of one session. */
  protected readonly maxOpenStreams: number = shareOfNamed
  /** Whether `POST /import` takes in sessions from elsewhere, as for `createAgentApp`. */
  protected readonly imports: boolean = false
  /** Whether `turnRequest` events, which hold the system prompt, leave the server. */
  protected readonly turnRequests: boolean = false
  /** Settings that clients may choose per prompt, as for `createAgentApp`. Default: none. */
  protected readonly clientSettings: NonNullable<RouteOptions['clientSettings']> = []
  /** Where pages reach the sessions, as for `createAgentApp`: large media are told by their address. Default: none. */
  protected readonly mediaBase: string | undefined = undefined
  /** Which events of runs are kept with the session, for `replayEvents` and pages; see `withEvents`. Default: none. */
  protected readonly keptEvents: EventKeeping | undefined = undefined
  /** Milliseconds between the comments that keep an idle connection open. */
  protected readonly pingMs: number = routeDefaults.pingMs
  /** How many sessions of a tenant may have a run at once; a prompt beyond is answered with 429. Needs `index()`. Default: as many as come. */
  protected readonly maxOpenRuns: number | undefined = undefined
  #begun: Begun | undefined
  /** When something is to be said next, epoch ms. */
  #dueAt: number | undefined
  /** Whether a run keeps the object. */
  #isRunning = false
  /** Whether the address is stored. */
  #isKept = false

  constructor(state: ObjectState, env: Bindings) {
    super(state)
    this.env = env
  }

  /** What the agent of this session is made with. Called once per start of the object, before its first run. */
  protected abstract agentOptions(address: ObjectAddress): LiveAgentOptions | Promise<LiveAgentOptions>

  /** Binding of the `IndexObject` that lists the session. Default: none does. */
  protected index(): ObjectNamespace | undefined {
    return undefined
  }

  /** Learns why an agent could not be started. Default: nobody does. */
  protected logger(): Logger | false | undefined {
    return undefined
  }

  /** Somebody has to decide, and nobody is connected; see `NoticeHandlers`. Default: nothing. */
  protected onWaiting?(notice: WaitingNotice): void | Promise<void>

  /** A run has ended. Default: nothing. */
  protected onEnd?(notice: EndNotice): void | Promise<void>

  /** The agent of this session, its unfinished run on again, for what the routes do not offer: steering, approvals. */
  protected async agent(): Promise<Agent | undefined> {
    return (await this.#begin())?.live.agent()
  }

  /** The prompts of this session that are said later; undefined before anybody has asked for the session. */
  protected async schedules(): Promise<SessionSchedules | undefined> {
    return (await this.#begin())?.live.schedules
  }

  override async fetch(request: Request): Promise<Response> {
    const address = readAddress(request)
    if (address === undefined) return super.fetch(request)
    if (isTooLate(request)) return problemResponse(deadlineExceeded)
    const begun = await this.#begin(address)
    // What the platform ended goes on with the first request, where that comes before the alarm.
    await begun.live.recover()
    return begun.routes(request, sessionGateway(begun.live))
  }

  /** For the platform. */
  async alarm(): Promise<void> {
    const begun = await this.#begin()
    if (begun === undefined) return
    this.#isRunning = await begun.live.keepAlive()
    await begun.scheduler.wake()
  }

  protected override deleteSession(): Promise<boolean> {
    this.#begun?.live.forget()
    this.#isKept = false
    return super.deleteSession()
  }

  #begin(address: ObjectAddress): Promise<Begun>
  #begin(): Promise<Begun | undefined>
  async #begin(given?: ObjectAddress): Promise<Begun | undefined> {
    const address = given ?? (await this.state.storage.get<ObjectAddress>('address'))
    if (address !== undefined) this.#begun ??= this.#host(address)
    return this.#begun
  }

  #host(address: ObjectAddress): Begun {
    const { sessionId, tenant } = address
    const { storage } = this.state
    const namespace = this.index()
    const index = namespace && new SessionIndex(namespace, tenant)
    const log = logSessionStore(objectLogDriver(() => localLog(this.log, storage, () => this.deleteSession()), index))
    const store = this.keptEvents === undefined ? log : withEvents(log, this.keptEvents)
    const {
      keepAliveMs,
      maxBodyBytes,
      bodyTimeoutMs,
      maxOpenRuns,
      maxOpenStreams,
      pingMs,
      imports,
      turnRequests,
      clientSettings,
      mediaBase,
    } = this
    const logger = this.logger()
    const runs = new OpenRuns(index, sessionId, { limit: maxOpenRuns, leaseMs: keepAliveMs * 3 })
    const identity = identityOf(tenant)
    const named = identity === undefined ? {} : { identity }
    const schedules = bookSchedules({
      read: async () => (await storage.get<ScheduleEntry[]>('schedules')) ?? [],
      write: (entries) => storage.put('schedules', [...entries]),
    })
    const scheduler = new Scheduler({
      store: schedules,
      logger,
      say: ({ prompt }, key) => sayIn(live, prompt, key),
      arm: async (at) => {
        this.#dueAt = at
        await this.#setAlarm()
      },
    })
    const changed = async () => {
      await this.#keep(address)
      await scheduler.wake()
    }
    const live = new LiveSession({
      sessionId,
      store,
      logger,
      agentOptions: () => this.agentOptions(address),
      otherHolder: () => this.log.otherHolder(),
      runs,
      ...(this.onWaiting !== undefined && { onWaiting: (notice) => this.onWaiting?.({ ...notice, ...named }) }),
      ...(this.onEnd !== undefined && { onEnd: (notice) => this.onEnd?.({ ...notice, ...named }) }),
      schedules: new SessionSchedules(schedules, { sessionId, ...named }, changed),
      keepAwake: () => this.#keepAwake(address),
      attempts: new ResumeAttempts(storage),
    })
    const limits = {
      ...{ maxBodyBytes, bodyTimeoutMs, maxOpenStreams, pingMs, imports, turnRequests, clientSettings },
      ...(mediaBase !== undefined && { mediaBase }),
    }
    return { live, scheduler, routes: liveSessionRoutes({ ...limits, ...(logger !== undefined && { logger }) }) }
  }

  /** There is an alarm from before a run begins until after it has ended, so the platform keeps the object, or starts it again. */
  async #keepAwake(address: ObjectAddress): Promise<void> {
    // An alarm does not say which session it is for. Not kept before there is a run: whoever only asks leaves nothing behind.
    await this.#keep(address)
    this.#isRunning = true
    await this.#setAlarm()
  }

  async #keep(address: ObjectAddress): Promise<void> {
    if (!this.#isKept) await this.state.storage.put('address', address)
    this.#isKept = true
  }

  /** There is one alarm: for the run that is on, or for what is said next. */
  async #setAlarm(): Promise<void> {
    const times = [this.#dueAt, this.#isRunning ? Date.now() + this.keepAliveMs : undefined].filter((at) => at !== undefined)
    if (times.length > 0) await this.state.storage.setAlarm(Math.min(...times))
  }
}

import type { Agent, AgentTool, Logger } from '../../../../src/index.ts'
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
import type { ContextRequest, EndNotice, RouteOptions, RunContext, WaitingNotice } from '../../../http/internal.ts'
import {
  contextFrom,
  contextRequest,
  deadlineExceeded,
  gatewayWith,
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

/** A session once its object knows its address. */
interface Begun {
  live: LiveSession
  scheduler: Scheduler
  routes: SessionRoutes
}

/**
 * A Durable Object that runs one session's agent. The agent runs without a client and resumes after an eviction. Extend it,
 * export your class, bind it with SQLite, and forward requests with `forwardToSession`. `Context` is the type of the runs' `context`.
 *
 * - `POST /runs` with `{ "prompt": "…" }` starts a run and streams its events, as `createAgentApp` does. 409 during a run.
 * - `GET /runs/:loopId/events` resumes after `Last-Event-ID`. Responds with 410 `gone` if the object has restarted since. In that case,
 *   read `GET /`, where `continuedBy` names the loop that continues the run.
 * - `GET /` returns `{ session, runningLoopId? }`. `POST /stop` stops the run, also an interrupted one.
 * - 404 for a session without messages.
 *
 * **Contract**
 * - A client that disconnects stops nothing.
 * - During a run an alarm every 20 s keeps the object alive. If the platform ends it anyway, the alarm or the next request
 *   restarts it. The run continues from the log: finished responses are not requested again, and interrupted tools run again only
 *   if they are idempotent.
 * - A run is resumed at most three times without completing a turn. Then it ends with status `error`, code `interrupted`.
 * - If `agentOptions` throws, that counts as no attempt: the session can be read and stopped, and the next request retries.
 * - `durableObjectSessionStore` reads the same sessions. An agent that opens one there takes it over from the run. The object
 *   takes it back when that writer is closed, or when a client prompts or stops the session here.
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
export abstract class LiveSessionObject<Bindings, Context = unknown> extends SessionObject {
  protected readonly env: Bindings
  /** Milliseconds between alarms during a run. */
  protected readonly keepAliveMs: number = 20_000
  /** Maximum request body size in bytes. */
  protected readonly maxBodyBytes: number = routeDefaults.maxBodyBytes
  /** Milliseconds until a request body must be complete. */
  protected readonly bodyTimeoutMs: number = routeDefaults.bodyTimeoutMs
  /** Maximum concurrent streams per session. */
  protected readonly maxOpenStreams: number = shareOfNamed
  /** Whether `POST /import` accepts sessions, as for `createAgentApp`. */
  protected readonly imports: boolean = false
  /** Whether clients receive `turnRequest` events, which contain the system prompt. */
  protected readonly turnRequests: boolean = false
  /** Settings that clients may choose per prompt, as for `createAgentApp`. Default: none. */
  protected readonly clientSettings: NonNullable<RouteOptions['clientSettings']> = []
  /** Base URL of the sessions for clients, as for `createAgentApp`: large media are sent as URLs. Default: none. */
  protected readonly mediaBase: string | undefined = undefined
  /** Events that are stored with the session, for `replayEvents` and clients. See `withEvents`. Default: none. */
  protected readonly keptEvents: EventKeeping | undefined = undefined
  /** Milliseconds between pings on an idle connection. */
  protected readonly pingMs: number = routeDefaults.pingMs
  /** Maximum sessions per tenant with an active run. A further prompt gets 429. Needs `index()`. Default: no limit. */
  protected readonly maxOpenRuns: number | undefined = undefined
  #begun: Begun | undefined
  /** Epoch milliseconds of the next scheduled prompt. */
  #dueAt: number | undefined
  /** Whether a run keeps the object alive. */
  #isRunning = false
  /** Whether the address is stored. */
  #isKept = false

  constructor(state: ObjectState, env: Bindings) {
    super(state)
    this.env = env
  }

  /** Returns the options for this session's agent. Called once per start of the object, before its first run. */
  protected abstract agentOptions(
    address: ObjectAddress,
  ): LiveAgentOptions<readonly AgentTool<Context>[]> | Promise<LiveAgentOptions<readonly AgentTool<Context>[]>>

  /** Returns the binding of the `IndexObject` that lists the session. Default: none. */
  protected index(): ObjectNamespace | undefined {
    return undefined
  }

  /** Returns the logger for failures to create an agent. Default: none. */
  protected logger(): Logger | false | undefined {
    return undefined
  }

  /**
   * Returns the `context` for a run. If a client starts the run, `request` is the request that the Worker forwarded. Without a request,
   * returning `undefined` makes the run wait. Default: none.
   */
  protected context?(request: Request | undefined, start: ContextRequest): Context | undefined | Promise<Context | undefined>

  /** Called when a call is pending and no client is connected. See `NoticeHandlers`. Default: none. */
  protected onWaiting?(notice: WaitingNotice): void | Promise<void>

  /** Called when a run has ended. Default: none. */
  protected onEnd?(notice: EndNotice): void | Promise<void>

  /** Returns this session's agent and resumes an unfinished run, for features without a route. */
  protected async agent(): Promise<Agent | undefined> {
    return (await this.#begin())?.live.agent()
  }

  /** Returns this session's scheduled prompts, or `undefined` before its first request. */
  protected async schedules(): Promise<SessionSchedules | undefined> {
    return (await this.#begin())?.live.schedules
  }

  override async fetch(request: Request): Promise<Response> {
    const address = readAddress(request)
    if (address === undefined) return super.fetch(request)
    if (isTooLate(request)) return problemResponse(deadlineExceeded)
    const begun = await this.#begin(address)
    // The first request resumes an interrupted run, if it arrives before the alarm.
    await begun.live.beginRecovery()
    const gateway = sessionGateway(begun.live)
    const start = () => this.#contextOf(request, 'start', address)
    return begun.routes(request, this.context === undefined ? gateway : gatewayWith(gateway, start))
  }

  /** Called by the platform. */
  async alarm(): Promise<void> {
    const begun = await this.#begin()
    if (begun === undefined) return
    try {
      this.#isRunning = await begun.live.keepAlive()
    } finally {
      // Even if the run cannot continue yet. The platform retries an alarm only a few times.
      await begun.scheduler.wake()
    }
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
      contextFor: (reason) => this.#contextOf(undefined, reason, address),
      keepAwake: () => this.#keepAwake(address),
      attempts: new ResumeAttempts(storage),
    })
    const limits = {
      ...{ maxBodyBytes, bodyTimeoutMs, maxOpenStreams, pingMs, imports, turnRequests, clientSettings },
      ...(mediaBase !== undefined && { mediaBase }),
    }
    return { live, scheduler, routes: liveSessionRoutes({ ...limits, ...(logger !== undefined && { logger }) }) }
  }

  /**
   * Sets an alarm before a run begins and keeps it until the run has ended, so that the platform keeps or restarts the object.
   */
  async #keepAwake(address: ObjectAddress): Promise<void> {
    // Store the session id, which alarms do not contain. The id is stored with the first run, so that reads leave nothing behind.
    await this.#keep(address)
    this.#isRunning = true
    await this.#setAlarm()
  }

  async #contextOf(
    request: Request | undefined,
    reason: ContextRequest['reason'],
    { sessionId, tenant }: ObjectAddress,
  ): Promise<RunContext> {
    const identity = identityOf(tenant)
    const named = identity === undefined ? { sessionId } : { sessionId, identity }
    const make = this.context?.bind(this)
    return make === undefined ? {} : contextFrom(make, request, contextRequest(reason, named))
  }

  async #keep(address: ObjectAddress): Promise<void> {
    if (!this.#isKept) await this.state.storage.put('address', address)
    this.#isKept = true
  }

  /** Sets the object's only alarm, for the active run or the next scheduled prompt. */
  async #setAlarm(): Promise<void> {
    const times = [this.#dueAt, this.#isRunning ? Date.now() + this.keepAliveMs : undefined].filter((at) => at !== undefined)
    if (times.length > 0) await this.state.storage.setAlarm(Math.min(...times))
  }
}

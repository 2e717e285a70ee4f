import { logWarning } from '../../../../src/base/log-warning.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../../src/contract/shape/shape.ts'
import { type Agent, type AgentTool, ConfigError, type SessionStore } from '../../../../src/index.ts'
import { assertSessionId, scopedSessionStore } from '../../../../src/session.ts'
import type { ContextOf } from '../../../../src/types/tool/tool.ts'
import { type Caller, type SessionAddress, shareOf } from '../../access/authorize.ts'
import { ending, ProblemError, refuse } from '../../access/problem.ts'
import type { SessionSchedules } from '../../schedules/session-schedules.ts'
import { TimedSchedules } from '../../schedules/timed-schedules.ts'
import { sayIn } from '../commands/queue-message.ts'
import { sessionGateway } from '../gateway/command-handlers.ts'
import { LiveSession } from '../live-session.ts'
import { maxAttempts } from '../live-session-host.ts'
import type { ListPage, LiveSessions, SessionFigures } from '../live-sessions.ts'
import { contextRequest, type WithContext } from '../run-context.ts'
import { attemptsOf } from '../unfinished-run.ts'
import { IdleSessions, type InMemory, notReleased } from './idle-sessions.ts'
import { claimAll, leftSessions, listOfAll, mayWorkLater } from './left-sessions.ts'
import {
  type CloseOptions,
  closeOptions,
  type DrainOptions,
  drainOptions,
  type MemoryLiveSessions,
  type MemoryLiveSessionsOptions,
  memoryOptionTable,
  type RecoverOptions,
  recoverOptions,
} from './memory-options.ts'
import { OpenRuns } from './open-runs.ts'

/** A session in memory. */
interface Resident extends InMemory {
  address: SessionAddress
  owner: string
  /** Rejects if this process is not allowed to load the session. */
  ready: Promise<void>
}

/**
 * Creates live sessions in this process: for Node, Deno, Bun, and tests.
 *
 * **Contract**
 * - Runs continue without a connected client. If a process ends, the next process resumes its runs with `recover`, or with the first
 *   command in the session.
 * - Only one process at a time changes a session; any process can read it. If another process opens the same session, the store rejects the
 *   older writer.
 * - `drain` and `close` release ownership and stop all timers. The next process resumes unfinished runs.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function memoryLiveSessions<Tools extends readonly AgentTool[] = readonly AgentTool[]>(
  options: MemoryLiveSessionsOptions<Tools>,
): MemoryLiveSessions & WithContext<ContextOf<Tools>> {
  checkOptions(options, optionsOf(memoryOptionTable))
  return new SessionsHere(options)
}

/** Notifications about sessions in memory, for their host. */
interface SessionsHereHooks {
  /**
   * Called before a session is loaded. Resolves with whether a crashed process owned the session, so that its run is resumed. A rejection
   * fails the request.
   */
  onEnter?(address: SessionAddress): Promise<{ wasLeft: boolean }>
  /** Called when a run has ended because it could not be recorded, or when the store prevents resuming it. */
  onCutOff?(address: SessionAddress): void
  /** Sends a due prompt, in any process. Default: in this process. */
  say?(address: SessionAddress, text: string, key: string): Promise<void>
  /** Called when another agent continues this session. */
  onAgent?(address: SessionAddress, agent: Agent): void
  /**
   * Called when a session is evicted and no longer writes. The session is not loaded again until this settles. Must not reject. `isAtRest`:
   * no work is left.
   */
  onLeft?(address: SessionAddress, how: { isAtRest: boolean }): Promise<void>
}

/** Sessions in this process's memory, for hosts that keep sessions there. Expects validated options. */
export class SessionsHere implements MemoryLiveSessions {
  readonly #options: MemoryLiveSessionsOptions
  readonly #hooks: SessionsHereHooks
  readonly listAll?: NonNullable<LiveSessions['listAll']>
  /** Sessions in order of use, most recent last. */
  readonly #residents = new Map<string, Resident>()
  /** Sessions being evicted. Loading one of them now would create a second agent, which would take over the session from the first. */
  readonly #leaving = new Map<string, Promise<void>>()
  readonly #runs = new OpenRuns()
  readonly #schedule: TimedSchedules | undefined
  readonly #idle: IdleSessions<Resident>
  #makeContext: Parameters<NonNullable<LiveSessions['contextFrom']>>[0] | undefined
  #isDraining = false

  constructor(options: MemoryLiveSessionsOptions, hooks: SessionsHereHooks = {}) {
    this.#options = options
    this.#hooks = hooks
    const { store, schedules, logger, idleMs = 300_000, restMs = 60_000 } = options
    this.#idle = new IdleSessions(this.#residents, { idleMs, restMs, letGo: this.#letGo.bind(this), logger })
    if (schedules !== undefined) {
      this.#schedule = new TimedSchedules(schedules, hooks.say ?? this.say.bind(this), logger)
    }
    // Separate stores per caller do not know each other's sessions.
    if (typeof store !== 'function') this.listAll = (page) => listOfAll(store, page)
  }

  /** Sessions in memory. */
  get addresses(): SessionAddress[] {
    return Array.from(this.#residents.values(), ({ address }) => address)
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  async fetch(address: SessionAddress, request: Request, routes: Parameters<LiveSessions['fetch']>[2]): Promise<Response> {
    assertSessionId(address.sessionId)
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    return this.#within(address, (live) => routes(request, sessionGateway(live)), isReading)
  }

  contextFrom(make: Parameters<NonNullable<LiveSessions['contextFrom']>>[0]): void {
    this.#makeContext = make
  }

  schedulesOf(address: SessionAddress): SessionSchedules {
    assertSessionId(address.sessionId)
    if (this.#schedule === undefined)
      throw new ConfigError('invalidOption', 'Schedules are not enabled for these sessions. Pass a schedule store.')
    return this.#schedule.of(address)
  }

  /** Sends a text once per `key`, in this process. */
  say(address: SessionAddress, text: string, key: string): Promise<void> {
    return this.#within(address, (live) => sayIn(live, text, key))
  }

  /** Uses a session like a request does, and keeps it in memory until `letGo` is called. */
  async hold<Value>(address: SessionAddress, act: (live: LiveSession) => Promise<Value>): Promise<{ value: Value; letGo: () => void }> {
    let letGo: () => void = () => undefined
    const isHeld = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const value = await new Promise<Value>((resolve, reject) => {
      const holding = this.#within(address, async (live) => {
        resolve(await act(live))
        await isHeld
      })
      holding.catch(reject)
    })
    return { value, letGo }
  }

  async recover(options: RecoverOptions = {}): Promise<number> {
    checkOptions(options, recoverOptions)
    const { isMine = () => true } = options
    const addresses: SessionAddress[] = []
    // Collect the sessions before resuming any, because resumed sessions move within the list.
    for await (const address of this.#left(options)) if (isMine(address)) addresses.push(address)
    return claimAll(
      addresses,
      (address) => this.takeOver(address),
      () => this.#isDraining,
    )
  }

  async *#left({ callers }: RecoverOptions): AsyncGenerator<SessionAddress, void, undefined> {
    const { store } = this.#options
    if (callers === undefined && typeof store !== 'function') return yield* leftSessions(store)
    for (const caller of callers ?? [{}]) {
      for await (const { sessionId } of leftSessions(this.#storeOf(caller))) yield { ...caller, sessionId }
    }
  }

  async isReady(): Promise<boolean> {
    if (this.#isDraining) return false
    await this.listAll?.({ limit: 1 })
    return true
  }

  figures(): SessionFigures {
    const figures = { sessions: this.#residents.size, runs: this.#runs.inAll, waiting: 0, queued: 0 }
    for (const { live } of this.#residents.values()) {
      figures.waiting += live.waiting.approvals
      figures.queued += live.waiting.messages
    }
    return figures
  }

  async list(caller: Caller, page: ListPage) {
    return this.#storeOf(caller).list(page)
  }

  async drain(options: DrainOptions = {}): Promise<void> {
    checkOptions(options, drainOptions)
    const { deadlineMs = 10_000 } = options
    this.#isDraining = true
    await this.#schedule?.end()
    const deadline = new AbortController()
    const stopTimer = startTimer(deadlineMs, () => deadline.abort())
    await this.#leaveAll((live) => live.handOver(deadline.signal))
    stopTimer()
  }

  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions(options, closeOptions)
    const { abort = false } = options
    await this.#schedule?.end()
    return this.#leaveAll((live) => live[abort ? 'leave' : 'handOver'](AbortSignal.abort()))
  }

  async #leaveAll(leave: (live: LiveSession) => Promise<void>): Promise<void> {
    this.#idle.stop()
    const all = Array.from(this.#residents, ([key, resident]) => this.#leave(key, resident, leave))
    await Promise.all([...all, ...this.#leaving.values()])
  }

  /** Resumes an interrupted run. Resolves with whether a run is active. Never rejects. */
  async takeOver(address: SessionAddress): Promise<boolean> {
    try {
      // A session that lost ownership to another process cannot get it back.
      await this.abandonIfMoved(address)
      return await this.#within(address, (live) => live.takeOver())
    } catch (error) {
      logWarning(this.#options.logger, 'sessionNotRecovered', { sessionId: address.sessionId, message: String(error) })
      if (mayWorkLater(error)) this.#hooks.onCutOff?.(address)
      return false
    }
  }

  /** Calls `act` with a session, and keeps the session in memory until `act` settles. */
  async #within<Value>(address: SessionAddress, act: (live: LiveSession) => Promise<Value>, isReading = false): Promise<Value> {
    const resident = await this.#enter(address)
    try {
      await resident.ready
      // Check this after the wait, because a session that is loaded now would not be handed over.
      if (this.#isDraining && !isReading) throw new ProblemError(ending)
      return await act(resident.live)
    } finally {
      resident.asking -= 1
      resident.usedAt = Date.now()
      this.#idle.watch()
    }
  }

  /** Returns the session of a request. The request keeps the session in memory. */
  async #enter(address: SessionAddress): Promise<Resident> {
    const key = keyOf(address)
    for (;;) {
      const leaving = this.#leaving.get(key)
      if (leaving !== undefined) await leaving
      else if (this.#residents.has(key)) return this.#hold(key, address)
      else if (this.#residentsOf(address).length >= this.#maxSessionsOf(address)) await this.#makeRoomOf(address)
      else if (this.#residents.size < this.#maxSessions) return this.#hold(key, address)
      else await this.#makeRoom()
    }
  }

  #hold(key: string, address: SessionAddress): Resident {
    const resident = this.#residents.get(key) ?? this.#resident(address)
    resident.asking += 1
    resident.usedAt = Date.now()
    this.#residents.delete(key)
    this.#residents.set(key, resident)
    return resident
  }

  #resident(given: SessionAddress): Resident {
    const address = { ...callerIn(given), sessionId: given.sessionId }
    const live = this.#host(address)
    const ready = this.#comeIn(address, live)
    const resident = { address, owner: ownerOf(address), live, ready, asking: 0, usedAt: 0 }
    const key = keyOf(address)
    ready.catch(() => {
      if (this.#residents.get(key) === resident) this.#residents.delete(key)
    })
    return resident
  }

  /** Loads a session. The previous owner no longer writes when the first request reads the session here. */
  async #comeIn(address: SessionAddress, live: LiveSession): Promise<void> {
    if ((await this.#hooks.onEnter?.(address))?.wasLeft !== true) return
    try {
      await live.claim()
    } catch (error) {
      await this.#hooks.onLeft?.(address, { isAtRest: false })
      throw error
    }
    void this.takeOver(address)
  }

  #host(address: SessionAddress): LiveSession {
    const { sessionId } = address
    const { agent, logger, onWaiting, onEnd } = this.#options
    return new LiveSession({
      sessionId,
      caller: callerIn(address),
      store: this.#storeOf(address),
      logger,
      ...(onWaiting !== undefined && { onWaiting }),
      ...(onEnd !== undefined && { onEnd }),
      ...(this.#schedule !== undefined && { schedules: this.#schedule.of(address) }),
      agentOptions: () => agent(address),
      contextFor: async (reason) => (await this.#makeContext?.(contextRequest(reason, address))) ?? {},
      onAgent: (made) => this.#hooks.onAgent?.(address, made),
      runs: this.#runs.of(ownerOf(address), shareOf(address, this.#options.maxOpenRuns)),
      moves: this.#hooks.onEnter !== undefined,
      cutOff: () => this.#hooks.onCutOff?.(address),
      attempts: { begin: async (records) => attemptsOf(records) <= maxAttempts, takeBack: async () => undefined },
    })
  }

  #storeOf(caller: Caller): SessionStore {
    const { store } = this.#options
    return typeof store === 'function' ? store(callerIn(caller)) : scopedSessionStore(store, caller.identity)
  }

  /** Returns one caller's sessions, most recently used last. */
  #residentsOf(address: SessionAddress): [string, Resident][] {
    const owner = ownerOf(address)
    return [...this.#residents].filter(([, resident]) => resident.owner === owner)
  }

  /** Evicts the least recently used session of this caller. */
  async #makeRoomOf(address: SessionAddress): Promise<void> {
    if (await this.#letOneGo(this.#residentsOf(address))) return
    if (this.#residentsOf(address).length < this.#maxSessionsOf(address)) return
    const detail = 'You have reached your active session limit. Stop a run, close a stream, or raise maxSessionsPerCaller on the server.'
    refuse(429, 'tooManySessions', detail, 5000)
  }

  /** Evicts the least recently used session. */
  async #makeRoom(): Promise<void> {
    if ((await this.#letOneGo([...this.#residents])) || this.#residents.size < this.#maxSessions) return
    const detail = 'The server has reached its active session limit. Retry later, or raise maxSessions on the server.'
    refuse(503, 'tooManySessions', detail, 5000)
  }

  async #letOneGo(residents: readonly [string, Resident][]): Promise<boolean> {
    for (const [key, resident] of residents) if (await this.#letGo(key, resident)) return true
    return false
  }

  /** Evicts a session unless it is in use. Resolves with whether it was evicted. */
  async #letGo(key: string, resident: Resident): Promise<boolean> {
    if (resident.asking > 0 || (await resident.live.isRunning())) return false
    // Check this after the wait, because a request may have arrived in the meantime.
    if (resident.asking > 0 || resident.live.isWatched || this.#residents.get(key) !== resident) return false
    await this.#leave(key, resident)
    return true
  }

  /** Releases a session to its new owner and stops recording it. */
  async abandon(address: SessionAddress): Promise<void> {
    const key = keyOf(address)
    const resident = this.#residents.get(key)
    if (resident !== undefined) await this.#leave(key, resident, (live) => live.handOver(AbortSignal.abort()))
  }

  /** Calls `abandon` if another process has taken over the session. */
  async abandonIfMoved(address: SessionAddress): Promise<void> {
    if (this.#residents.get(keyOf(address))?.live.takenOver.aborted === true) await this.abandon(address)
  }

  #leave(key: string, { address, live, ready }: Resident, leave?: (live: LiveSession) => Promise<void>): Promise<void> {
    this.#residents.delete(key)
    const leaveIt = async (): Promise<void> => {
      await (leave === undefined ? live.leave() : leave(live)).catch(notReleased(live, this.#options.logger))
      await this.#hooks.onLeft?.(address, { isAtRest: leave === undefined })
    }
    // A rejected session was never loaded in this process.
    const left = ready.then(leaveIt, () => undefined).finally(() => this.#leaving.delete(key))
    this.#leaving.set(key, left)
    return left
  }

  /** Returns the session limit. It exceeds the run limit, so that a caller at the run limit can still read and stop runs. */
  #maxSessionsOf(address: SessionAddress): number {
    return shareOf(address, this.#options.maxSessionsPerCaller, 200)
  }

  get #maxSessions(): number {
    return this.#options.maxSessions ?? 1000
  }
}

function keyOf(address: SessionAddress): string {
  return `${ownerOf(address)}/${address.sessionId}`
}

function callerIn({ identity }: Caller): Caller {
  return identity === undefined ? {} : { identity }
}

/** Returns the owner's key. The empty key means the single user, because names are never empty. */
function ownerOf({ identity = '' }: Caller): string {
  return encodeURIComponent(identity)
}

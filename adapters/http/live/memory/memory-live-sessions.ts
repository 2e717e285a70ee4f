import { logWarning } from '../../../../src/base/log-warning.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../../src/contract/shape/shape.ts'
import { type Agent, ConfigError, type SessionStore } from '../../../../src/index.ts'
import { assertSessionId, SessionError, scopedSessionStore } from '../../../../src/session.ts'
import { type Caller, type SessionAddress, shareOf } from '../../access/authorize.ts'
import { ending, leaving, ProblemError, refuse } from '../../access/problem.ts'
import type { SessionSchedules } from '../../schedules/session-schedules.ts'
import { TimedSchedules } from '../../schedules/timed-schedules.ts'
import { sayIn } from '../commands/queue-message.ts'
import { sessionGateway } from '../gateway/command-handlers.ts'
import { LiveSession } from '../live-session.ts'
import { maxAttempts } from '../live-session-host.ts'
import type { ListPage, LiveSessions, SessionFigures } from '../live-sessions.ts'
import { attemptsOf } from '../unfinished-run.ts'
import { IdleSessions, type InMemory, notReleased } from './idle-sessions.ts'
import { claimAll, leftSessions, listOfAll } from './left-sessions.ts'
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
  /** Rejects if the session may not be here. */
  ready: Promise<void>
}

/**
 * Creates live sessions in this process: for Node, Deno, Bun, and tests.
 *
 * **Contract**
 * - Runs continue without a client. If a process ends, the next one resumes its runs with `recover`, or with the first command in
 *   their session.
 * - One process at a time changes a session; any process can read it. If another process opens the same session, the store
 *   refuses the older writer.
 * - `drain` and `close` release ownership and leave no timer. No run is lost: the next process resumes it.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function memoryLiveSessions(options: MemoryLiveSessionsOptions): MemoryLiveSessions {
  checkOptions(options, optionsOf(memoryOptionTable))
  return new SessionsHere(options)
}

/** Notifications about sessions in memory, for their host. */
interface SessionsHereHooks {
  /**
   * Called before a session is loaded. A rejection refuses the request. Resolves with whether a crashed process owned it; its run
   * is then resumed.
   */
  onEnter?(address: SessionAddress): Promise<{ wasLeft: boolean }>
  /** Called when a run has ended because it could not be recorded, or could not be resumed because of its store. */
  onCutOff?(address: SessionAddress): void
  /** Sends a due prompt, in any process. Default: here. */
  say?(address: SessionAddress, text: string, key: string): Promise<void>
  /** Called when another agent continues this session. */
  onAgent?(address: SessionAddress, agent: Agent): void
  /**
   * Called when a session is evicted and writes no more. It is not loaded again until this settles. Never rejects. `isAtRest`: no
   * work is left.
   */
  onLeft?(address: SessionAddress, how: { isAtRest: boolean }): Promise<void>
}

/** The sessions in the memory of this process, for hosts that keep them there. Its options are checked. */
export class SessionsHere implements MemoryLiveSessions {
  readonly #options: MemoryLiveSessionsOptions
  readonly #hooks: SessionsHereHooks
  readonly listAll?: NonNullable<LiveSessions['listAll']>
  /** The most recently used comes last. */
  readonly #residents = new Map<string, Resident>()
  /** Sessions that are being evicted: a second agent of a session would take it over from the first. */
  readonly #leaving = new Map<string, Promise<void>>()
  readonly #runs = new OpenRuns()
  readonly #schedule: TimedSchedules | undefined
  readonly #idle: IdleSessions<Resident>
  #isDraining = false

  constructor(options: MemoryLiveSessionsOptions, hooks: SessionsHereHooks = {}) {
    this.#options = options
    this.#hooks = hooks
    const { store, schedules, logger, idleMs = 300_000, restMs = 60_000 } = options
    this.#idle = new IdleSessions(this.#residents, { idleMs, restMs, letGo: this.#letGo.bind(this), logger })
    if (schedules !== undefined) {
      this.#schedule = new TimedSchedules(schedules, hooks.say ?? this.say.bind(this), logger)
    }
    // Stores per caller know nothing of each other.
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

  schedulesOf(address: SessionAddress): SessionSchedules {
    assertSessionId(address.sessionId)
    if (this.#schedule === undefined)
      throw new ConfigError('invalidOption', 'These sessions have no schedules. Give them a store for these.')
    return this.#schedule.of(address)
  }

  /** Sends a text once per `key`, in this process. */
  say(address: SessionAddress, text: string, key: string): Promise<void> {
    return this.#within(address, (live) => sayIn(live, text, key))
  }

  /** Uses a session as requests do, and keeps it in memory until `letGo` is called. */
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
    // Collected first, because resumed sessions move in the list.
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

  /** Resumes an interrupted run. Resolves with whether one is active; never rejects. */
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

  /** Uses a session and keeps it in memory meanwhile. */
  async #within<Value>(address: SessionAddress, act: (live: LiveSession) => Promise<Value>, isReading = false): Promise<Value> {
    const resident = await this.#enter(address)
    try {
      await resident.ready
      // Checked after the wait, because a session that is loaded now would not be handed over.
      if (this.#isDraining && !isReading) throw new ProblemError(ending)
      return await act(resident.live)
    } finally {
      resident.asking -= 1
      resident.usedAt = Date.now()
      this.#idle.watch()
    }
  }

  /** Returns the session of a request, which keeps it in memory. */
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

  /** Loads a session. Its previous owner writes no more when the first request reads it here. */
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

  /** Returns the sessions of one caller, the most recently used last. */
  #residentsOf(address: SessionAddress): [string, Resident][] {
    const owner = ownerOf(address)
    return [...this.#residents].filter(([, resident]) => resident.owner === owner)
  }

  /** Evicts the least recently used session of this caller. */
  async #makeRoomOf(address: SessionAddress): Promise<void> {
    if (await this.#letOneGo(this.#residentsOf(address))) return
    if (this.#residentsOf(address).length < this.#maxSessionsOf(address)) return
    const detail =
      'As many of your sessions are active as may be at once. Stop a run or close a stream, or raise maxSessionsPerCaller on the server.'
    refuse(429, 'tooManySessions', detail, 5000)
  }

  /** Evicts the least recently used session. */
  async #makeRoom(): Promise<void> {
    if ((await this.#letOneGo([...this.#residents])) || this.#residents.size < this.#maxSessions) return
    const detail = 'As many sessions are active as this server holds. Try again later, or raise maxSessions on the server.'
    refuse(503, 'tooManySessions', detail, 5000)
  }

  async #letOneGo(residents: readonly [string, Resident][]): Promise<boolean> {
    for (const [key, resident] of residents) if (await this.#letGo(key, resident)) return true
    return false
  }

  /** Evicts a session unless it is in use. Resolves with whether it did. */
  async #letGo(key: string, resident: Resident): Promise<boolean> {
    if (resident.asking > 0 || (await resident.live.isRunning())) return false
    // Checked after the wait, because a request may have arrived meanwhile.
    if (resident.asking > 0 || resident.live.isWatched || this.#residents.get(key) !== resident) return false
    await this.#leave(key, resident)
    return true
  }

  /** Leaves a session to its new owner and records nothing more of it. */
  async abandon(address: SessionAddress): Promise<void> {
    const key = keyOf(address)
    const resident = this.#residents.get(key)
    if (resident !== undefined) await this.#leave(key, resident, (live) => live.handOver(AbortSignal.abort()))
  }

  /** As `abandon`, if another process has taken the session over. */
  async abandonIfMoved(address: SessionAddress): Promise<void> {
    if (this.#residents.get(keyOf(address))?.live.takenOver.aborted === true) await this.abandon(address)
  }

  #leave(key: string, { address, live, ready }: Resident, leave?: (live: LiveSession) => Promise<void>): Promise<void> {
    this.#residents.delete(key)
    const leaveIt = async (): Promise<void> => {
      await (leave === undefined ? live.leave() : leave(live)).catch(notReleased(live, this.#options.logger))
      await this.#hooks.onLeft?.(address, { isAtRest: leave === undefined })
    }
    // A refused session was never here.
    const left = ready.then(leaveIt, () => undefined).finally(() => this.#leaving.delete(key))
    this.#leaving.set(key, left)
    return left
  }

  /** Returns the limit of sessions. It exceeds that of runs, so that a caller at the limit of runs can still read and stop. */
  #maxSessionsOf(address: SessionAddress): number {
    return shareOf(address, this.#options.maxSessionsPerCaller, 200)
  }

  get #maxSessions(): number {
    return this.#options.maxSessions ?? 1000
  }
}

/**
 * Returns whether a retry may succeed: the store did not respond, another process was faster, or the session was being evicted.
 */
function mayWorkLater(error: unknown): boolean {
  if (SessionError.isInstance(error)) return error.code === 'io' || error.code === 'conflict'
  return error instanceof ProblemError && error.problem === leaving
}

function keyOf(address: SessionAddress): string {
  return `${ownerOf(address)}/${address.sessionId}`
}

function callerIn({ identity }: Caller): Caller {
  return identity === undefined ? {} : { identity }
}

/** Returns the owner's key. The empty one is the single user; no name is empty. */
function ownerOf({ identity = '' }: Caller): string {
  return encodeURIComponent(identity)
}

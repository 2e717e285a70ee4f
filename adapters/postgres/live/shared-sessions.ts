import { logWarning } from '../../../src/base/log-warning.ts'
import { startTimer } from '../../../src/base/timer.ts'
import { errorText } from '../../../src/contract/errors.ts'
import type { ForwardedCommand } from '../../../src/contract/session/session-command.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import type { SessionStore } from '../../../src/index.ts'
import { assertSessionId, logSessionStore } from '../../../src/session.ts'
import type { Caller, SessionRoutes } from '../../http/index.ts'
import type { SessionAddress, SessionFigures } from '../../http/internal.ts'
import {
  type AskedCommand,
  type BodyLimits,
  type CloseOptions,
  claimAll,
  closeOptions,
  commandIn,
  contextRequest,
  type DrainOptions,
  deadlinesFrom,
  gatewayWith,
  type ListPage,
  listOfAll,
  problemResponse,
  refuse,
  requestFor,
  routeDefaults,
  SessionsHere,
  soonMs,
  storeAgainMs,
  unknownRoute,
} from '../../http/internal.ts'
import { postgresLogDriver } from '../postgres-log-driver.ts'
import { placeOf } from '../schema.ts'
import { Answering } from './forwarding/answering.ts'
import { type Answer, Incoming } from './forwarding/incoming.ts'
import { channelOf, Mailbox } from './forwarding/mailbox.ts'
import { PassingOn } from './forwarding/passing-on.ts'
import { Peers } from './forwarding/peers.ts'
import type { PostgresLiveSessions, PostgresLiveSessionsOptions } from './postgres-live-options.ts'
import { Repeating } from './repeating.ts'
import { addressOf, type Holder, keyOf, leftChannel, SessionLeases, textOf } from './session-leases.ts'

/** Another process owns the session. */
class HeldElsewhereError extends Error {
  readonly holder: Holder

  constructor(holder: Holder) {
    super('Another process owns the session.')
    this.name = 'HeldElsewhereError'
    this.holder = holder
  }
}

const moving = 'The session is moving to another process. Retry.'
/** Maximum times that a request follows a session that moves. */
const maxMoves = 5
/** Milliseconds within which responses to other processes must end at shutdown. */
const lastAnswersMs = 2000
/** Milliseconds between polls with `LISTEN`, because a notification may be lost with its connection. */
const listeningPollMs = 1000

/** The sessions in one of several processes. Expects validated options. */
export class SharedSessions implements PostgresLiveSessions {
  readonly #options: PostgresLiveSessionsOptions
  readonly #processId = crypto.randomUUID().replaceAll('-', '')
  readonly #leaseMs: number
  readonly #store: SessionStore
  readonly #here: SessionsHere
  readonly #leases: SessionLeases
  readonly #peers: Peers | undefined
  readonly #passingOn: PassingOn
  readonly #rhythms: { pulse: Repeating; sweeps: Repeating; calls: Repeating; parts: Repeating }
  /** Stops listening. */
  readonly #listening: Promise<(() => Promise<void>) | undefined>
  readonly #answering: Answering
  #routes: SessionRoutes | undefined
  #makeContext: Parameters<SessionsHere['contextFrom']>[0] | undefined
  #body: BodyLimits = { maxBytes: routeDefaults.maxBodyBytes, timeoutMs: routeDefaults.bodyTimeoutMs }
  /** Time until which the lease is certainly valid, by `performance.now()`, or `undefined` before the first heartbeat. */
  #certainUntil: number | undefined
  /** Runs that ended or could not be resumed because the database failed, and have to continue. */
  readonly #cutOff = new Map<string, SessionAddress>()
  /** Claimed sessions that are not in memory yet. */
  readonly #taken = new Set<string>()
  /** Whether the last database query failed. */
  #isSilent = false
  #isLeaving = false
  readonly #closed = new AbortController()

  constructor(options: PostgresLiveSessionsOptions) {
    this.#options = options
    const {
      pool: _pool,
      schema: _schema,
      tenant: _tenant,
      statementTimeoutMs: _statementTimeoutMs,
      listen,
      pollMs,
      leaseMs = 10_000,
      peers,
      forwardTimeoutMs: _forwardTimeoutMs,
      store,
      ...shared
    } = options
    const place = { ...placeOf(options), processId: this.#processId }
    this.#leaseMs = leaseMs
    this.#store = store ?? logSessionStore(postgresLogDriver(place))
    this.#here = new SessionsHere(
      { ...shared, store: this.#store },
      {
        onEnter: (address) => this.#enter(address),
        say: (address, text, key) => this.#say(address, text, key),
        onLeft: (address, { isAtRest }) => this.#leave(address, isAtRest),
        onCutOff: (address) => this.#cutOff.set(textOf(keyOf(address)), address),
      },
    )
    const { logger } = options
    const leases = new SessionLeases(place, { leaseMs, url: peers?.url })
    const mailbox = new Mailbox(place)
    const act = this.#act.bind(this)
    const incoming = new Incoming({ now: () => leases.now(), act, logger })
    this.#leases = leases
    this.#answering = new Answering({
      mailbox,
      incoming,
      logErrors: (answering) => this.#logErrors(answering),
      signal: this.#closed.signal,
    })
    this.#peers = peers === undefined ? undefined : new Peers({ peers, processId: this.#processId, incoming, logger })
    this.#passingOn = new PassingOn({ mailbox, leases, peers: this.#peers, logger, wake: () => void this.#rhythms.parts.wake() })
    const lookMs = pollMs ?? (listen === undefined ? 50 : listeningPollMs)
    this.#rhythms = {
      pulse: new Repeating(leaseMs / 4, () => this.#logErrors(() => this.#pulse())),
      sweeps: new Repeating(leaseMs / 4, () =>
        this.#logErrors(async () => {
          await this.#sweep()
        }),
      ),
      calls: new Repeating(lookMs, () => this.#logErrors(() => this.#answering.receive())),
      parts: new Repeating(lookMs, () => this.#logErrors(() => this.#passingOn.read())),
    }
    this.#listening = this.#listen(place.schema)
    void this.#rhythms.pulse.wake().then(() => this.#rhythms.sweeps.wake())
  }

  answerWith(routes: SessionRoutes, body: BodyLimits): void {
    this.#routes = routes
    this.#body = body
  }

  contextFrom(make: Parameters<SessionsHere['contextFrom']>[0]): void {
    this.#makeContext = make
    this.#here.contextFrom(make)
  }

  async fetch(address: SessionAddress, request: Request, routes: SessionRoutes): Promise<Response> {
    assertSessionId(address.sessionId)
    let passed: ForwardedCommand | undefined
    for (let move = 0; move < maxMoves; move++) {
      await this.#assertCertain()
      try {
        return await this.#here.fetch(address, passed === undefined ? request : requestFor(passed, request.signal), routes)
      } catch (error) {
        if (!(error instanceof HeldElsewhereError)) throw error
        const asked = passed ?? (await commandIn(request, this.#body))
        if (asked === undefined) return problemResponse(unknownRoute)
        passed ??= this.#passed(address, asked)
        const answer = await this.#passingOn.pass(error.holder, passed, request.signal)
        if (answer !== 'moved') return answer
      }
    }
    refuse(503, 'unavailable', moving, soonMs)
  }

  readonly forwarded = async (request: Request): Promise<Response> =>
    this.#peers === undefined ? problemResponse(unknownRoute) : this.#peers.receive(request, this.#body)

  async list(caller: Caller, page: ListPage) {
    return this.#here.list(caller, page)
  }

  async listAll(page: ListPage) {
    return listOfAll(this.#store, page)
  }

  async isReady(): Promise<boolean> {
    await this.#assertCertain()
    return !this.#isLeaving && this.#here.isReady()
  }

  figures(): SessionFigures {
    return this.#here.figures()
  }

  async recover(): Promise<number> {
    await this.#assertCertain()
    return this.#sweep()
  }

  schedulesOf(address: SessionAddress) {
    return this.#here.schedulesOf(address)
  }

  async drain(options: DrainOptions = {}): Promise<void> {
    this.#isLeaving = true
    await this.#here.drain(options)
  }

  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions(options, closeOptions)
    this.#isLeaving = true
    await this.#here.close(options)
    // A response that hangs must not block the shutdown.
    await within(lastAnswersMs, this.#answering.settled())
    this.#closed.abort()
    await Promise.all(Object.values(this.#rhythms).map((rhythm) => rhythm.stop()))
    this.#passingOn.end()
    await this.#logErrors(async () => (await this.#listening)?.())
    await this.#logErrors(() => this.#leases.end())
  }

  /** Returns the forwarded form of a command, with its deadlines. */
  #passed({ identity, sessionId }: SessionAddress, asked: AskedCommand): ForwardedCommand {
    const deadlines = deadlinesFrom(this.#leases.now(), this.#options.forwardTimeoutMs)
    return { sessionId, ...(identity !== undefined && { identity }), ...asked, ...deadlines }
  }

  /** Sends a due prompt, in the process that owns the session. */
  async #say(address: SessionAddress, text: string, key: string): Promise<void> {
    const command = { type: 'send' as const, contentType: 'application/json', body: JSON.stringify({ prompt: text }) }
    for (let move = 0; move < maxMoves; move++) {
      await this.#assertCertain()
      try {
        return await this.#here.say(address, text, key)
      } catch (error) {
        if (!(error instanceof HeldElsewhereError)) throw error
        const passed = this.#passed(address, { command, idempotencyKey: key, reason: 'queued' })
        const answer = await this.#passingOn.pass(error.holder, passed, this.#closed.signal)
        if (answer !== 'moved') return assertTaken(answer)
      }
    }
    refuse(503, 'unavailable', moving, soonMs)
  }

  /** Runs a command that another process has forwarded. */
  async #act({ identity, sessionId, reason }: ForwardedCommand, request: Request, begins: () => void): Promise<Answer> {
    const routes = this.#routes
    if (routes === undefined) return 'moved'
    await this.#assertCertain()
    const address = { sessionId, ...(identity !== undefined && { identity }) }
    const act: SessionRoutes = async (asked, gateway) => {
      begins()
      if (reason === undefined) return routes(asked, gateway)
      const start = async () => (await this.#makeContext?.(contextRequest(reason, address))) ?? {}
      return routes(asked, gatewayWith(gateway, start))
    }
    try {
      return await this.#here.fetch(address, request, act)
    } catch (error) {
      if (error instanceof HeldElsewhereError) return 'moved'
      throw error
    }
  }

  /** Rejects while this process is not certain that it still owns its sessions. */
  async #assertCertain(): Promise<void> {
    if (this.#isCertain) return
    if (!this.#closed.signal.aborted) await within(storeAgainMs, this.#rhythms.pulse.wake())
    if (this.#isCertain) return
    if (this.#closed.signal.aborted)
      refuse(503, 'unavailable', 'This server has shut down. Retry, so that another server responds.', soonMs)
    refuse(503, 'storeFailed', 'The session database does not respond or accepts no writes. Retry.', storeAgainMs)
  }

  get #isCertain(): boolean {
    return this.#certainUntil !== undefined && performance.now() < this.#certainUntil && !this.#closed.signal.aborted
  }

  /** Sends a heartbeat and drops lost sessions. */
  async #pulse(): Promise<void> {
    const at = performance.now()
    const before = this.#certainUntil
    const hasLivedOn = await this.#leases.beat()
    this.#isSilent = false
    // If the response to an earlier heartbeat was lost, it may have said that the lease had expired.
    if (before !== undefined && !(hasLivedOn && at < before)) await this.#abandonTaken()
    this.#certainUntil = at + this.#leaseMs
    await this.#passingOn.tellLost()
    for (const [key, address] of [...this.#cutOff]) {
      this.#cutOff.delete(key)
      try {
        await this.#goOn(address)
      } catch (error) {
        this.#cutOff.set(key, address)
        throw error
      }
    }
  }

  /** Resumes a run that ended here, unless another process owns it. */
  async #goOn(address: SessionAddress): Promise<void> {
    await this.#here.abandonIfMoved(address)
    if (this.#isLeaving) return
    const { processId, wasLeft } = await this.#leases.take(keyOf(address))
    if (processId !== this.#processId) return
    if (wasLeft) this.#taken.add(textOf(keyOf(address)))
    void this.#here.takeOver(address)
  }

  /** Drops sessions that others have claimed. */
  async #abandonTaken(): Promise<void> {
    const held = new Set((await this.#leases.held()).map(textOf))
    const taken = this.#here.addresses.filter((address) => !held.has(textOf(keyOf(address))))
    await Promise.all(taken.map((address) => this.#here.abandon(address)))
  }

  /** Resumes orphaned runs. Resolves with the number of runs that are then active. */
  async #sweep(): Promise<number> {
    let begun = 0
    for (let isMore = true; isMore && !this.#isLeaving && this.#isCertain; ) {
      const left = await this.#leases.takeLeft()
      for (const key of left) this.#taken.add(textOf(key))
      begun += await claimAll(
        left.map(addressOf),
        (address) => this.#here.takeOver(address),
        () => this.#isLeaving,
      )
      for (const key of left) this.#taken.delete(textOf(key))
      const isHere = new Set(this.#here.addresses.map((address) => textOf(keyOf(address))))
      const refused = left.filter((key) => !isHere.has(textOf(key)))
      // No notification, because the notified processes would claim the sessions immediately and fail as well. Others poll soon.
      for (const key of refused) await this.#leases.leave(key, { notify: false })
      isMore = refused.length < left.length
    }
    return begun
  }

  /** Loads a session if no other process owns it. Resolves with whether a crashed process owned it. */
  async #enter(address: SessionAddress): Promise<{ wasLeft: boolean }> {
    const key = keyOf(address)
    // A process that shuts down claims nothing. Sessions without an owner can still be read.
    const { wasLeft, ...holder } = this.#isLeaving
      ? { processId: this.#processId, ...(await this.#leases.holder(key)), wasLeft: false }
      : await this.#leases.take(key)
    if (holder.processId !== this.#processId) throw new HeldElsewhereError(holder)
    const wasTaken = this.#taken.delete(textOf(key))
    return { wasLeft: wasLeft || wasTaken }
  }

  /** Keeps the row for a session whose run may be unfinished, because other processes find the run by this row. */
  #leave(address: SessionAddress, isAtRest: boolean): Promise<void> {
    const key = keyOf(address)
    return this.#logErrors(() => (isAtRest ? this.#leases.release(key) : this.#leases.leave(key)))
  }

  async #listen(schema: string): Promise<(() => Promise<void>) | undefined> {
    const mail = channelOf(this.#processId)
    let stop: (() => Promise<void>) | undefined
    await this.#logErrors(async () => {
      stop = await this.#options.listen?.([mail, leftChannel(schema)], (channel, text) => {
        if (channel !== mail) return void this.#rhythms.sweeps.wake()
        if (text !== 'part') void this.#rhythms.calls.wake()
        if (text !== 'call') void this.#rhythms.parts.wake()
      })
    })
    return stop
  }

  /**
   * Uses the database. Logs the first failure until the next successful heartbeat, because frequent queries would fill the log.
   */
  async #logErrors(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!this.#isSilent) logWarning(this.#options.logger, 'sessionsUnreachable', { message: errorText(error) })
      this.#isSilent = true
    }
  }
}

/** Throws `ProblemError` if the owner did not start the command. Drops its stream. */
async function assertTaken(answer: Response): Promise<void> {
  await answer.body?.cancel()
  if (answer.ok) return
  const detail = `The process that owns the session refused the scheduled prompt with ${answer.status}.`
  if (answer.status === 429 || answer.status === 503) refuse(answer.status, 'unavailable', detail, soonMs)
  throw new Error(detail)
}

/** Resolves when `work` settles, or after this many milliseconds. Never rejects. */
function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const stopTimer = startTimer(ms, resolve)
    void work.finally(stopTimer).then(() => resolve())
  })
}

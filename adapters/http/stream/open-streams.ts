import { type Caller, shareOf } from '../access/authorize.ts'
import { refuse, soonMs } from '../access/problem.ts'
import { LoopLag } from './loop-lag.ts'

/** Concurrent streams of a process. */
const inAllByDefault = 10_000

interface StreamLimits {
  /** Concurrent streams of one caller. */
  perCaller?: number | undefined
  inAll?: number | undefined
  maxLagMs?: number | undefined
}

/** Counts concurrent streams, per caller and in all. Each holds a reader and unsent data. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #openOf = new Map<string | undefined, number>()
  readonly #lag = new LoopLag()
  #inAll = 0

  constructor(limits: StreamLimits) {
    this.#limits = limits
  }

  /** Open streams of all callers. */
  get inAll(): number {
    return this.#inAll
  }

  /** Milliseconds that the event loop is late. */
  get lagMs(): number {
    return this.#lag.ms
  }

  /** Refuses if there is no room: 429 `tooManyStreams` for this caller, 503 for all. Call it before anything is started. */
  assertRoom(caller: Caller): void {
    const { perCaller, inAll = inAllByDefault, maxLagMs } = this.#limits
    const share = shareOf(caller, perCaller)
    if ((this.#openOf.get(caller.identity) ?? 0) >= share)
      refuse(
        429,
        'tooManyStreams',
        `${share} answers are streamed to you already. Close one, or raise maxOpenStreams on the server.`,
        soonMs,
      )
    if (this.#inAll >= inAll)
      refuse(503, 'tooManyStreams', 'This server streams as many answers as it may. Ask again later, or raise maxStreams on it.', soonMs)
    if (maxLagMs !== undefined && this.lagMs > maxLagMs)
      refuse(503, 'unavailable', 'This server is too busy for more runs now. Ask again.', soonMs)
  }

  /** Counts a stream; returns what to call at its end. */
  enter({ identity }: Caller): () => void {
    this.#add(identity, 1)
    return () => this.#add(identity, -1)
  }

  #add(identity: string | undefined, count: number): void {
    this.#inAll += count
    const open = (this.#openOf.get(identity) ?? 0) + count
    if (open > 0) this.#openOf.set(identity, open)
    else this.#openOf.delete(identity)
  }
}

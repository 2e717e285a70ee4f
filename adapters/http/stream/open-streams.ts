import { type Caller, shareOf } from '../access/authorize.ts'
import { refuse, soonMs } from '../access/problem.ts'
import { LoopLag } from './loop-lag.ts'

/** Maximum concurrent streams per process. */
const inAllByDefault = 10_000

interface StreamLimits {
  /** Maximum concurrent streams per caller. */
  perCaller?: number | undefined
  inAll?: number | undefined
  maxLagMs?: number | undefined
}

/** Counts concurrent streams, per caller and in total. Each stream uses a reader and memory for unsent data. */
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

  /** Event loop delay in milliseconds. */
  get lagMs(): number {
    return this.#lag.ms
  }

  /** Rejects a stream over the limit: 429 `tooManyStreams` per caller, 503 in total. Call it before starting anything. */
  assertRoom(caller: Caller): void {
    const { perCaller, inAll = inAllByDefault, maxLagMs } = this.#limits
    const share = shareOf(caller, perCaller)
    if ((this.#openOf.get(caller.identity) ?? 0) >= share)
      refuse(
        429,
        'tooManyStreams',
        `Your limit of ${share} open streams is reached. Close one, or raise maxOpenStreams on the server.`,
        soonMs,
      )
    if (this.#inAll >= inAll)
      refuse(
        503,
        'tooManyStreams',
        "The server's limit of open streams is reached. Retry later, or raise maxStreams on the server.",
        soonMs,
      )
    if (maxLagMs !== undefined && this.lagMs > maxLagMs)
      refuse(503, 'unavailable', 'This server is too busy to start a run. Retry.', soonMs)
  }

  /** Counts a stream. Returns a function to call at its end. */
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

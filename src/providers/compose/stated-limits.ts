import { maxServerDelayMs } from '../../base/timer.ts'
import type { RateLimited, RateLimits } from '../../contract/model/usage.ts'

/** A started call with its estimated tokens. */
export interface BegunCall {
  readonly fresh: number
}

/** What remains of one limit after the calls that started since the report. */
interface Left {
  amount: number
  limit: number | undefined
  /** Reset time. */
  until: number
  /** Whether the limit was reset without a new report. */
  isRenewed: boolean
}

/**
 * Limits of one model, as reported by the provider.
 *
 * After a reset, calls up to the limit can start. If the limit is unknown, allows one call and reads the limit from its response. Waits at
 * most one minute for a reset, which may be a day away.
 */
export class StatedLimits {
  readonly #left = new Map<RateLimited, Left>()
  /** Calls started since the last report, which the provider may not have counted. */
  readonly #unheard = new Set<BegunCall>()

  begun(call: BegunCall): void {
    this.#unheard.add(call)
    for (const [limited, left] of this.#left) left.amount -= needOf(call, limited)
  }

  update(call: BegunCall, limits: RateLimits, now: number): void {
    this.#unheard.delete(call)
    for (const limited of limitedThings) {
      const { remaining, limit, resetMs = maxServerDelayMs } = limits[limited] ?? {}
      if (remaining === undefined) continue
      const until = now + Math.min(resetMs, maxServerDelayMs)
      this.#left.set(limited, { amount: remaining - this.#unheardNeed(limited), limit, until, isRenewed: false })
    }
  }

  ended(call: BegunCall): void {
    if (!this.#unheard.delete(call)) return
    for (const [limited, { isRenewed }] of this.#left) if (isRenewed) this.#left.delete(limited)
  }

  /** Returns the milliseconds until `call` can start, or 0 for immediately. */
  waitFor(call: BegunCall, now: number): number {
    let wait = 0
    for (const [limited, left] of this.#left) {
      if (left.until <= now) this.#renew(limited, left, now)
      // A call that exceeds the whole limit runs alone.
      const most = left.limit || (left.isRenewed ? 1 : Infinity)
      const need = Math.min(needOf(call, limited), most)
      if (left.amount < need) wait = Math.max(wait, left.until - now)
    }
    return wait
  }

  #renew(limited: RateLimited, left: Left, now: number): void {
    const whole = left.limit || 1
    left.amount = whole - this.#unheardNeed(limited)
    left.until = now + maxServerDelayMs
    left.isRenewed = true
  }

  #unheardNeed(limited: RateLimited): number {
    let sum = 0
    for (const call of this.#unheard) sum += needOf(call, limited)
    return sum
  }
}

const limitedThings: readonly RateLimited[] = ['requests', 'tokens', 'inputTokens', 'outputTokens']

/** Returns the tokens that must remain, with a reserve because the response length is unknown. */
function needOf({ fresh }: BegunCall, limited: RateLimited): number {
  return limited === 'requests' || limited === 'outputTokens' ? 1 : fresh
}

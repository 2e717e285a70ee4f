import { maxServerDelayMs } from '../../base/timer.ts'
import type { RateLimited, RateLimits } from '../../contract/model/usage.ts'

/** A started call with its estimated tokens. */
export interface BegunCall {
  readonly fresh: number
}

/** Remaining part of one limit, minus calls started since. */
interface Left {
  amount: number
  limit: number | undefined
  /** Time of its reset. */
  until: number
  /** Whether it was reset without a new statement. */
  isRenewed: boolean
}

/**
 * Limits of one model that the provider stated.
 *
 * After a reset, calls up to the limit may start. If its size is unknown, one call may, whose response states it. No reset is awaited for
 * more than a minute, because it may be a day away.
 */
export class StatedLimits {
  readonly #left = new Map<RateLimited, Left>()
  /** Started calls without a new statement; the provider may not have counted them. */
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

  /** Returns the milliseconds until `call` may start; 0 if now. */
  waitFor(call: BegunCall, now: number): number {
    let wait = 0
    for (const [limited, left] of this.#left) {
      if (left.until <= now) this.#renew(limited, left, now)
      // A call above the whole limit runs alone.
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

/** Returns the tokens that must remain: the length of the response is unknown, so some must be left. */
function needOf({ fresh }: BegunCall, limited: RateLimited): number {
  return limited === 'requests' || limited === 'outputTokens' ? 1 : fresh
}

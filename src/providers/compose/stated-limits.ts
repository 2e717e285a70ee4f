import { maxServerDelayMs } from '../../base/timer.ts'
import type { RateLimited, RateLimits } from '../../contract/model/usage.ts'

/** A call that has begun: how many tokens it is likely to be charged. */
export interface BegunCall {
  readonly fresh: number
}

/** What is left of one limit, less what has begun since the service said so. */
interface Left {
  amount: number
  limit: number | undefined
  /** When it is whole again. */
  until: number
  /** That time has come, and the service has said nothing new. */
  isRenewed: boolean
}

/**
 * What a service has said is left of the limits of one model.
 *
 * Once a limit is whole again, as much may begin as it allows; where the service has not said how much that is, one call, which brings the answer. A
 * service that then says nothing is not waited for. None is waited for longer than a minute: it may mean a day.
 */
export class StatedLimits {
  readonly #left = new Map<RateLimited, Left>()
  /** Calls that have begun, and of which the service has said nothing: it may not have counted them. */
  readonly #unheard = new Set<BegunCall>()

  begun(call: BegunCall): void {
    this.#unheard.add(call)
    for (const [limited, left] of this.#left) left.amount -= needOf(call, limited)
  }

  said(call: BegunCall, limits: RateLimits, now: number): void {
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

  /** Milliseconds until `call` may begin; 0: at once. */
  waitFor(call: BegunCall, now: number): number {
    let wait = 0
    for (const [limited, left] of this.#left) {
      if (left.until <= now) this.#renew(limited, left, now)
      // One that needs more than there ever is goes alone.
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

/** How long an answer will be, nobody knows: some of it must be left. */
function needOf({ fresh }: BegunCall, limited: RateLimited): number {
  return limited === 'requests' || limited === 'outputTokens' ? 1 : fresh
}

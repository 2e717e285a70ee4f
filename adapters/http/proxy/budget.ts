import {
  aFunction,
  aPositiveNumber,
  either,
  listOf,
  oneOf,
  options,
  required,
  type Shape,
  wholeFrom,
  withMethods,
} from '../../../src/contract/shape/shape.ts'
import { ProblemError, refuse, soonMs } from '../access/problem.ts'

/** Limits per identity and time window. Set at least one. Each limit covers all of the identity's calls. */
export interface BudgetWindow {
  /** Length of the window in milliseconds. Windows are aligned to the epoch, so a day begins at midnight UTC. */
  ms: number
  /** Maximum accepted calls, including calls that failed later. */
  requests?: number
  /** Maximum prompt and response tokens, including cached tokens. */
  tokens?: number
  /** Maximum cost in USD, at the upstream's prices. Rejects models without a price. */
  usd?: number
  /** Maximum response bytes. */
  bytes?: number
}

/** One identity's budget. */
export interface ProxyBudget {
  /** Maximum concurrent calls. Default: 8. */
  concurrent?: number
  /** Limits per time window. Default: none. */
  windows?: readonly BudgetWindow[]
}

/** A change to one counter. */
export interface Charge {
  /** The counter's name, which ends with the identity. */
  key: string
  /** Integer to add. A negative value subtracts, and 0 only reads the counter. Costs are in millionths of a USD. */
  amount: number
  /** Epoch milliseconds after which the counter may be deleted. A later charge may extend it. */
  expiresAt: number
}

/**
 * Counts usage for the proxy: `memoryCounter` for one process. To share counters between processes, use a Durable Object or a
 * store with atomic increments.
 *
 * **Contract**
 * - `add` applies all charges and returns the new totals in order. Unknown counters start at 0.
 * - All charges of a call have the same `identity` (empty for the single user), so that counters can be sharded by identity.
 * - Concurrent calls must not lose charges.
 * - A rejection fails the call with 503.
 */
export interface BudgetCounter {
  add(charges: readonly Charge[], identity: string): readonly number[] | Promise<readonly number[]>
}

/** Usage of an ended call. */
export interface Used {
  tokens: number
  usd: number
  bytes: number
}

const aLimit = wholeFrom(0)
/** Validation shape for a `budget` object. */
export const aBudget: Shape = either(
  oneOf('unlimited'),
  options<ProxyBudget>({
    concurrent: wholeFrom(1),
    windows: listOf(
      options<BudgetWindow>({ ms: required(wholeFrom(1000)), requests: aLimit, tokens: aLimit, usd: aPositiveNumber, bytes: aLimit }),
    ),
  }),
)
export const aBudgetRule: Shape = either(aBudget, aFunction)
export const aCounter: Shape = withMethods('a counter, such as memoryCounter()', 'add')

const minSweep = 1024

/** Creates a counter in this process, without sharing or persistence. Releases expired counters. */
export function memoryCounter(): BudgetCounter {
  const counters = new Map<string, { total: number; expiresAt: number }>()
  let sweepAt = minSweep
  const sweep = (now: number): void => {
    for (const [key, { expiresAt }] of counters) if (expiresAt <= now) counters.delete(key)
    sweepAt = Math.max(minSweep, counters.size * 2)
  }
  return {
    add(charges) {
      const now = Date.now()
      if (counters.size >= sweepAt) sweep(now)
      return charges.map(({ key, amount, expiresAt }) => {
        const known = counters.get(key)
        const total = (known === undefined || known.expiresAt <= now ? 0 : known.total) + amount
        if (total === 0) counters.delete(key)
        else if (amount !== 0) counters.set(key, { total, expiresAt: Math.max(expiresAt, known?.expiresAt ?? 0) })
        return total
      })
    },
  }
}

/** An accepted call. */
export interface Admission {
  /** Whether the call's cost must be known. */
  readonly countsUsd: boolean
  /** Whether tokens or USD are counted. */
  readonly countsTokens: boolean
  /** Ends the call once: charges its usage and frees its slot. */
  settle(used: Used): Promise<void>
  /** Ends a call that the proxy rejected, instead of `settle`. The call does not count as a request. */
  withdraw(): Promise<void>
}

/** The caller and its limits. */
export interface Asking {
  counter: BudgetCounter
  identity: string
  budget: ProxyBudget
  /** Maximum call duration in milliseconds, after which a lost call no longer counts as open. */
  maxDurationMs: number
}

const measures = ['requests', 'tokens', 'usd', 'bytes'] as const
type Measure = (typeof measures)[number]

/**
 * Admits a call, or throws `ProblemError` 429 with the retry time.
 *
 * **Contract**
 * - Does not count a rejected call. Counts an admitted call as a request immediately, and its tokens, cost and bytes when the call is
 *   settled, in the windows at that time. Therefore, at most `concurrent` active calls can exceed a limit by their usage.
 * - Throws `ProblemError` 503 if the counter fails.
 */
export async function admit(asking: Asking): Promise<Admission> {
  const { identity, budget, maxDurationMs } = asking
  const { concurrent = 8, windows = [] } = budget
  const now = Date.now()
  const open: Charge = { key: `open:${identity}`, amount: 1, expiresAt: now + maxDurationMs + 60_000 }
  const limits = windows.flatMap((window) => limitsOf(window, identity, now))
  const entering = [open, ...limits.map(({ charge }) => charge)]
  const takeBack = (): Promise<unknown> =>
    counted(
      asking,
      entering.filter(({ amount }) => amount > 0).map((charge) => ({ ...charge, amount: -charge.amount })),
    )
  const [underWay = 0, ...totals] = await counted(asking, entering)
  // The total includes the request, but not its usage.
  const over = limits.filter(({ measure, limit }, at) => (totals[at] ?? 0) >= limit + (measure === 'requests' ? 1 : 0))
  if (underWay > concurrent || over.length > 0) {
    await takeBack()
    throw underWay > concurrent ? tooMany(concurrent) : overBudget(over, now)
  }
  const countsUsd = windows.some(({ usd }) => usd !== undefined)
  return {
    countsUsd,
    countsTokens: countsUsd || windows.some(({ tokens }) => tokens !== undefined),
    withdraw: async () => void (await takeBack()),
    settle: async (used) => {
      const amounts = { requests: 0, tokens: used.tokens, usd: Math.ceil(used.usd * 1_000_000), bytes: used.bytes }
      const end = Date.now()
      const charges = windows
        .flatMap((window) => limitsOf(window, identity, end))
        .map(({ charge, measure }) => ({ ...charge, amount: amounts[measure] }))
      await asking.counter.add([{ ...open, amount: -1 }, ...charges.filter(({ amount }) => amount !== 0)], identity)
    },
  }
}

interface Limit {
  charge: Charge
  measure: Measure
  limit: number
  window: BudgetWindow
}

function limitsOf(window: BudgetWindow, identity: string, now: number): Limit[] {
  const index = Math.floor(now / window.ms)
  const expiresAt = (index + 1) * window.ms
  return measures.flatMap((measure) => {
    const limit = window[measure]
    if (limit === undefined) return []
    const charge = { key: `${measure}:${window.ms}:${index}:${identity}`, amount: measure === 'requests' ? 1 : 0, expiresAt }
    return [{ charge, measure, limit: measure === 'usd' ? limit * 1_000_000 : limit, window }]
  })
}

async function counted({ counter, identity }: Asking, charges: readonly Charge[]): Promise<readonly number[]> {
  try {
    return await counter.add(charges, identity)
  } catch {
    refuse(503, 'unavailable', 'The remaining budget is currently unknown. Retry later.', 5000)
  }
}

function tooMany(concurrent: number): ProblemError {
  const detail = `The limit of ${concurrent} concurrent calls is reached. Wait for one to end.`
  return new ProblemError({ status: 429, code: 'tooManyStreams', detail, retryAfterMs: soonMs })
}

/** The limit with the latest reset determines the retry time. */
function overBudget(over: readonly Limit[], now: number): ProblemError {
  const last = over.reduce((a, b) => (b.charge.expiresAt > a.charge.expiresAt ? b : a))
  const { measure, window, charge } = last
  const retryAfterMs = charge.expiresAt - now
  const limit = `${window[measure]} ${measure === 'usd' ? 'USD' : measure} per ${window.ms / 1000} s`
  const detail = `The budget is used up: ${limit}. It resets in ${Math.ceil(retryAfterMs / 1000)} s.`
  return new ProblemError({ status: 429, code: 'overBudget', detail, retryAfterMs })
}

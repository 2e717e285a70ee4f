import { count, longest, retryAfterIn } from '../../../base/http-answer.ts'
import type { ErrorFacts } from './error-facts.ts'

/** `try again in 11.2s`, `retry after 20 seconds`, `wait 2m30s`. */
const inWords =
  /(?:again in|retry (?:after|in)|wait(?: for)?) (?:about )?((?:\d{1,15}(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)(?![a-z]) ?)+)/i
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Returns the requested retry delay in milliseconds. Sources, in order: `retry-after-ms` or `x-ms-retry-after-ms`, then `retry-after`
 * (seconds or an HTTP date), Google's `retryDelay`, the message, and for a rate limit the reset headers. Does not cap the delay; the caller
 * does.
 */
export function retryAfterMs(
  headers: Headers | undefined,
  { retryDelay, text }: Pick<ErrorFacts, 'retryDelay' | 'text'>,
  isLimited: boolean,
): number | undefined {
  // The second header is Azure's.
  const exact = longest(headers?.get('retry-after-ms'), 'ms') ?? longest(headers?.get('x-ms-retry-after-ms'), 'ms')
  if (exact !== undefined) return exact
  const clock = clockOf(headers)
  const asked = retryAfterIn(headers?.get('retry-after'), clock)
  if (asked !== undefined) return asked
  const seconds = count(retryDelay?.replace('s', ''))
  if (seconds !== undefined) return Math.round(seconds * 1000)
  return durationIn(inWords.exec(text)?.[1]) ?? (isLimited && headers !== undefined ? untilReset(headers, clock) : undefined)
}

/** Returns the provider's clock, because the caller's clock may be wrong. */
export function clockOf(headers: Headers | undefined): number {
  const date = Date.parse(headers?.get('date') ?? '')
  return Number.isNaN(date) ? Date.now() : date
}

/** Returns the longest reset among exhausted limits, or the shortest reset if no limit is exhausted. */
function untilReset(headers: Headers, clock: number): number | undefined {
  let used: number | undefined
  let other: number | undefined
  headers.forEach((value, name) => {
    if (!name.includes('ratelimit') || !name.includes('reset')) return
    const ms = untilMs(value, clock)
    if (ms === undefined) return
    if (count(headers.get(name.replace('reset', 'remaining'))) === 0) used = Math.max(used ?? 0, ms)
    else other = Math.min(other ?? ms, ms)
  })
  return used ?? other
}

/** Parses a date, a duration (`6m0s`), seconds, or an epoch time in seconds or milliseconds. */
export function untilMs(value: string, clock: number): number | undefined {
  const number = count(value)
  if (number === undefined) return /\d-\d\d-\d\dT/.test(value) ? after(Date.parse(value), clock) : durationIn(value)
  if (number < 1e8) return Math.round(number * 1000)
  return after(number < 1e11 ? number * 1000 : number, clock)
}

function after(at: number, clock: number): number | undefined {
  return Number.isNaN(at) ? undefined : Math.max(0, at - clock)
}

function durationIn(text: string | undefined): number | undefined {
  let ms: number | undefined
  for (const [, number, unit = ''] of (text ?? '').matchAll(/(\d{1,15}(?:\.\d+)?) ?(mil|ms|[smhd])/gi)) {
    ms = (ms ?? 0) + Number(number) * (units[unit.toLowerCase()] ?? 1)
  }
  return ms === undefined ? undefined : Math.round(ms)
}

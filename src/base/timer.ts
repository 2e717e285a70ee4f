import type { RetryConfig } from '../contract/run/settings.ts'

/** Maximum timer delay on all platforms, in milliseconds (24.8 days). Longer timers fire immediately. */
const longestMs = 2_147_483_647

/** Returns `ms`, limited to the maximum timer delay. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}

/** Calls `act` after `ms` milliseconds, at most 24.8 days. Returns a function that stops the timer. */
export function startTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, timerMs(ms))
  return () => clearTimeout(timer)
}

/** Resolves after `ms` milliseconds, at most 24.8 days. */
export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => {
    startTimer(ms, resolve)
  })
}

/**
 * Maximum delay that a provider can request, in milliseconds. A longer delay fails the call, because the provider would reject an earlier
 * retry.
 */
export const maxServerDelayMs = 60_000

/**
 * Returns the delay in milliseconds before retry `attempt` (from 1): the provider's delay, at most {@link maxServerDelayMs}, plus 0 to 25
 * %. If the provider requests no delay, returns a random fraction of the exponential backoff, capped at `maxDelayMs`. This full jitter
 * prevents simultaneous retries.
 * Source: docs/reference/errors.md
 */
export function retryDelayMs(attempt: number, config: RetryConfig, retryAfterMs?: number): number {
  if (retryAfterMs !== undefined && retryAfterMs >= 0) {
    return Math.floor(Math.min(retryAfterMs, maxServerDelayMs) * (1 + Math.random() * 0.25))
  }
  const base = config.initialDelayMs * config.backoffMultiplier ** (attempt - 1)
  const capped = Math.min(base, config.maxDelayMs)
  return Math.floor(capped * Math.random())
}

/**
 * Yields to timers and aborts during long work. Await it between steps. Throws the signal's reason after an abort. Without it, work on a
 * synchronous workspace (memory) would block the thread.
 */
export async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal?.throwIfAborted()
}

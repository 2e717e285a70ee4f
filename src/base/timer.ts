import type { RetryConfig } from '../contract/run/settings.ts'

/** Maximum timer delay of platforms in milliseconds (24.8 days); they fire longer ones at once. */
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

/** Maximum wait that a provider can request, in milliseconds. A longer one ends the call, because an earlier retry would be rejected too. */
export const maxServerDelayMs = 60_000

/**
 * Returns the milliseconds before retry `attempt` (from 1): the provider's wait, at most {@link maxServerDelayMs}, plus 0 to 25 %. Without
 * one, a random part of the exponential backoff, capped by `maxDelayMs` (full jitter), so that clients do not retry at the same time.
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
 * Yields to timers and aborts during long work: await it between steps. Throws the signal's reason after an abort.
 * Without it, a synchronous workspace (memory) would block the thread until the end.
 */
export async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal?.throwIfAborted()
}

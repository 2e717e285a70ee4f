import type { RetryConfig } from '../contract/run/settings.ts'

/** The longest delay platforms take (24.8 days), in ms; they would fire a longer one at once. */
const longestMs = 2_147_483_647

/** `ms`, or the longest delay that timers of platforms take where it is longer or infinite. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}

/** Calls `act` after `ms` milliseconds, or after 24.8 days where `ms` is longer or infinite; returns how to stop it. */
export function startTimer(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, timerMs(ms))
  return () => clearTimeout(timer)
}

/** Longest wait that a service may ask for, in ms. A model call that is asked to wait longer ends, because an earlier try would be refused too. */
export const maxServerDelayMs = 60_000

/**
 * Milliseconds to wait before retry `attempt` (from 1): what the service asked for, at most {@link maxServerDelayMs}, and 0 to 25 % more; else
 * any part of the exponential backoff, capped by `maxDelayMs`, each as likely (full jitter). Otherwise all who were refused together come back together.
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
 * Lets timers and aborts happen during long work: await it between steps, and throws the signal's reason once it has aborted.
 * Without it a workspace that answers at once (memory) would keep the thread until the end.
 */
export async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal?.throwIfAborted()
}

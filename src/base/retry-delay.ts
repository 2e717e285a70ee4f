import type { RetryConfig } from '../contract/run/settings.ts'

/** Longest wait that a service may ask for, in ms. A model call that is asked to wait longer ends, because an earlier try would be refused too. */
export const maxServerDelayMs = 60_000

/**
 * Milliseconds to wait before retry `attempt` (from 1): what the service asked for, at most {@link maxServerDelayMs}, and 0 to 25 % more; else
 * exponential backoff capped by `maxDelayMs` with ±20 % jitter. Without jitter, all who were refused together come back together.
 * Source: docs/concepts/errors.md
 */
export function retryDelayMs(attempt: number, config: RetryConfig, retryAfterMs?: number): number {
  if (retryAfterMs !== undefined && retryAfterMs >= 0) {
    return Math.floor(Math.min(retryAfterMs, maxServerDelayMs) * (1 + Math.random() * 0.25))
  }
  const base = config.initialDelayMs * config.backoffMultiplier ** (attempt - 1)
  const capped = Math.min(base, config.maxDelayMs)
  return Math.floor(capped * (0.8 + Math.random() * 0.4))
}

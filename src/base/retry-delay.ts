import type { RetryConfig } from '../contract/run/settings.ts'

/** Longest wait a service may ask for, in ms; longer requests are cut to this. */
const maxServerDelayMs = 60_000

/**
 * Milliseconds to wait before retry `attempt` (from 1): what the service asked for, else exponential backoff capped by
 * `maxDelayMs` with ±20 % jitter. Source: docs/concepts/errors.md
 */
export function retryDelayMs(attempt: number, config: RetryConfig, retryAfterMs?: number): number {
  if (retryAfterMs !== undefined && retryAfterMs >= 0) return Math.min(retryAfterMs, maxServerDelayMs)
  const base = config.initialDelayMs * config.backoffMultiplier ** (attempt - 1)
  const capped = Math.min(base, config.maxDelayMs)
  return Math.floor(capped * (0.8 + Math.random() * 0.4))
}

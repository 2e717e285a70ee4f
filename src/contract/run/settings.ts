/**
 * When a run stops by itself, checked before each turn (`>=`). Source: docs/concepts/limits-and-retries.md
 */
export interface ExecutionLimits {
  /** Model calls. Default 50. */
  maxTurns: number
  /** Sum of input and output tokens. Default 1,000,000. */
  maxTotalTokens: number
  /** Milliseconds since the run began. Default 600,000. */
  maxDurationMs: number
  /** USD; needs rates in `ModelConfig.cost`. Default: none. */
  maxCost?: number
  /** Turns in a row that come to nothing but the same refused call: same tool, same arguments, same refusal. Default 3. */
  maxSameRefusals?: number
}

/** Limits of several loops together: the others make sense for one loop alone. */
export type SharedLimits = Omit<ExecutionLimits, 'maxTurns' | 'maxSameRefusals'>

/** The limit that a run has reached. */
export interface ReachedLimit {
  /** `budget`: one that the caller passed and that does not say more. */
  name: keyof ExecutionLimits | 'budget'
  /** In the words of the specification: `Max turns reached (50/50)`. */
  reason: string
  /** The limit, and what had been used, in its unit. */
  max?: number
  used?: number
}

/** The defaults of the specification. */
export const defaultLimits: ExecutionLimits = { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 }

/** The default of `maxSameRefusals`, which the specification does not have. */
export const defaultMaxSameRefusals = 3

/** How failed model calls are repeated. Source: docs/concepts/limits-and-retries.md */
export interface RetryConfig {
  /** Tries after the first. Default 3; 0 disables retries. */
  maxRetries: number
  /** Milliseconds. Default 1000. */
  initialDelayMs: number
  /** Default 2. */
  backoffMultiplier: number
  /** Milliseconds; caps the backoff, not what a service asks for. Default 30,000. */
  maxDelayMs: number
}

/** The defaults of the specification. */
export const defaultRetry: RetryConfig = {
  maxRetries: 3,
  initialDelayMs: 1000,
  backoffMultiplier: 2,
  maxDelayMs: 30_000,
}

/** How many queued inputs one checkpoint delivers; the messages of one input stay together. */
export type QueueMode = 'oneAtATime' | 'all'

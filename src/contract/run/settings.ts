import { definedFields } from '../json.ts'
import {
  aNumberFromZero,
  aPositiveNumber,
  aText,
  type FieldsOf,
  type Infer,
  namesOf,
  object,
  oneOf,
  optional,
  type ShapeOf,
  tagged,
  wholeFrom,
} from '../shape/shape.ts'

export const limitFields = {
  /** Model calls. Default 50. */
  maxTurns: aNumberFromZero,
  /** Sum of input and output tokens. Default 1,000,000. */
  maxTotalTokens: aNumberFromZero,
  /** Milliseconds since the run began. Default 600,000. */
  maxDurationMs: aNumberFromZero,
  /** USD; needs rates in `ModelConfig.cost`. Default: none. */
  maxCost: optional(aNumberFromZero),
  /** Turns in a row that come to nothing but the same refused call: same tool, same arguments, same refusal. Default 3. */
  maxSameRefusals: optional(aPositiveNumber),
  /** Searches that services run by themselves. Default: none. */
  maxSearches: optional(aNumberFromZero),
  /** How often an answer that its service paused is continued within one turn. Default 10. */
  maxContinuations: optional(aNumberFromZero),
}

/**
 * When a run stops by itself, checked before each turn (`>=`). Source: docs/concepts/limits.md
 */
export interface ExecutionLimits extends FieldsOf<typeof limitFields> {}

/** Limits of several loops together: the others make sense for one loop alone. */
export type SharedLimits = Omit<ExecutionLimits, 'maxTurns' | 'maxSameRefusals' | 'maxContinuations'>

/** The defaults of the specification. */
export const defaultLimits: ExecutionLimits = { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 }

/** The default of `maxSameRefusals`, which the specification does not have. */
export const defaultMaxSameRefusals = 3
/** The default of `maxContinuations`. */
export const defaultMaxContinuations = 10

/** Every limit that holds of these: what is left out has its default. */
export function fullLimits(limits: Partial<ExecutionLimits> = {}): FullLimits {
  const others = { maxSameRefusals: defaultMaxSameRefusals, maxContinuations: defaultMaxContinuations }
  return { ...defaultLimits, ...others, ...definedFields(limits) }
}

/** Limits in which nothing that has a default is left out. */
export type FullLimits = ExecutionLimits & Required<Pick<ExecutionLimits, 'maxSameRefusals' | 'maxContinuations'>>

const reachedFields = {
  /** `budget`: one that the caller passed and that does not say more. */
  name: oneOf(...namesOf(limitFields), 'budget'),
  /** In the words of the specification: `Max turns reached (50/50)`. */
  reason: aText,
  /** The limit, and what had been used, in its unit. */
  max: optional(aNumberFromZero),
  used: optional(aNumberFromZero),
}

/** The limit that a run has reached. */
export interface ReachedLimit extends FieldsOf<typeof reachedFields> {}
export const reachedLimit: ShapeOf<ReachedLimit> = object<ReachedLimit>(reachedFields)

export const retryFields = {
  /** Tries after the first. Default 3; 0 disables retries. */
  maxRetries: aNumberFromZero,
  /** Milliseconds. Default 1000. */
  initialDelayMs: aNumberFromZero,
  /** Default 2. */
  backoffMultiplier: aNumberFromZero,
  /** Milliseconds; caps the backoff, not what a service asks for. Default 30,000. */
  maxDelayMs: aNumberFromZero,
}

/** How failed model calls are repeated. Source: docs/concepts/limits.md */
export interface RetryConfig extends FieldsOf<typeof retryFields> {}

/** The defaults of the specification. */
export const defaultRetry: RetryConfig = {
  maxRetries: 3,
  initialDelayMs: 1000,
  backoffMultiplier: 2,
  maxDelayMs: 30_000,
}

/** What a run does about failed calls: what is left out has its default. */
export function fullRetry(retry: Partial<RetryConfig> = {}): RetryConfig {
  return { ...defaultRetry, ...definedFields(retry) }
}

/** What holds of settings in one word or number, unless they were given. */
export const plainDefaults = { cache: 'auto', repair: 0, toolExecution: 'parallel', queueMode: 'oneAtATime' } as const

export const toolExecution = tagged('type', { parallel: {}, sequential: {}, batched: { size: wholeFrom(1) } })
/** How the calls of one message are run. `batched` runs `size` at a time. A call that waits for a person holds back those of later steps. */
export type ToolExecutionStrategy = Infer<typeof toolExecution>

export const queueMode = oneOf('oneAtATime', 'all')
/** How many queued inputs one checkpoint delivers; the messages of one input stay together. */
export type QueueMode = Infer<typeof queueMode>

/** What a run with nothing else to do does about work beside it, in words. */
export const onRunEnd = oneOf('wait', 'stop')
/** What a run with nothing else to do does about work beside it: waits until that has ended and answers its report, or stops it. */
export type OnRunEnd = Infer<typeof onRunEnd>

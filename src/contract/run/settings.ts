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
  /** Maximum model calls. Default: 50. */
  maxTurns: aNumberFromZero,
  /** Maximum input plus output tokens. Default: 1,000,000. */
  maxTotalTokens: aNumberFromZero,
  /** Maximum milliseconds since the run started. Default: 600,000. */
  maxDurationMs: aNumberFromZero,
  /** Maximum cost in USD. Requires rates in `ModelConfig.cost`. Default: none. */
  maxCost: optional(aNumberFromZero),
  /** Maximum consecutive turns with only the same rejected call: same tool, arguments and error. Default: 3. */
  maxSameRefusals: optional(aPositiveNumber),
  /** Maximum provider-executed searches. Default: none. */
  maxSearches: optional(aNumberFromZero),
  /** Maximum continuations of a paused response per turn. Default: 10. */
  maxContinuations: optional(aNumberFromZero),
}

/** Limits that stop a run, checked before each turn (`>=`). Source: docs/concepts/limits.md */
export interface ExecutionLimits extends FieldsOf<typeof limitFields> {}

/** Limits that several loops share, without those that apply to a single loop. */
export type SharedLimits = Omit<ExecutionLimits, 'maxTurns' | 'maxSameRefusals' | 'maxContinuations'>

/** Default values from the specification. */
export const defaultLimits: ExecutionLimits = { maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 }

/** Default of `maxSameRefusals`, which the specification does not define. */
export const defaultMaxSameRefusals = 3
/** Default of `maxContinuations`. */
export const defaultMaxContinuations = 10

/** Applies the default limits. */
export function fullLimits(limits: Partial<ExecutionLimits> = {}): FullLimits {
  const others = { maxSameRefusals: defaultMaxSameRefusals, maxContinuations: defaultMaxContinuations }
  return { ...defaultLimits, ...others, ...definedFields(limits) }
}

/** Limits with defaults applied. */
export type FullLimits = ExecutionLimits & Required<Pick<ExecutionLimits, 'maxSameRefusals' | 'maxContinuations'>>

const reachedFields = {
  /** Which limit was reached. `budget`: a caller's budget that reports no details. */
  name: oneOf(...namesOf(limitFields), 'budget'),
  /** Message in the specification's wording: `Max turns reached (50/50)`. */
  reason: aText,
  /** The limit and the usage, in the limit's unit. */
  max: optional(aNumberFromZero),
  used: optional(aNumberFromZero),
}

/** The limit that a run reached. */
export interface ReachedLimit extends FieldsOf<typeof reachedFields> {}
export const reachedLimit: ShapeOf<ReachedLimit> = object<ReachedLimit>(reachedFields)

export const retryFields = {
  /** Maximum retries after the first attempt. Default: 3; 0 disables retries. */
  maxRetries: aNumberFromZero,
  /** First backoff in milliseconds. Default: 1,000. */
  initialDelayMs: aNumberFromZero,
  /** Default: 2. */
  backoffMultiplier: aNumberFromZero,
  /** Maximum backoff in milliseconds. Does not limit waits that a provider requests. Default: 30,000. */
  maxDelayMs: aNumberFromZero,
}

/** Settings for retrying failed model calls. Source: docs/concepts/limits.md */
export interface RetryConfig extends FieldsOf<typeof retryFields> {}

/** Default values from the specification. */
export const defaultRetry: RetryConfig = {
  maxRetries: 3,
  initialDelayMs: 1000,
  backoffMultiplier: 2,
  maxDelayMs: 30_000,
}

/** Applies the retry defaults. */
export function fullRetry(retry: Partial<RetryConfig> = {}): RetryConfig {
  return { ...defaultRetry, ...definedFields(retry) }
}

/** Default values of simple settings. */
export const plainDefaults = { cache: 'auto', repair: 0, toolExecution: 'parallel', queueMode: 'oneAtATime' } as const

export const toolExecution = tagged('type', { parallel: {}, sequential: {}, batched: { size: wholeFrom(1) } })
/**
 * Execution order of one message's calls. `batched` runs `size` calls at a time. A call with a pending approval delays the calls of later
 * steps.
 */
export type ToolExecutionStrategy = Infer<typeof toolExecution>

export const queueMode = oneOf('oneAtATime', 'all')
/** Number of queued inputs delivered per checkpoint. Messages of one input stay together. */
export type QueueMode = Infer<typeof queueMode>

/** How a finished run treats its background tasks. */
export const onRunEnd = oneOf('wait', 'stop')
/** Whether a finished run waits for its background tasks and responds to their reports, or stops the tasks. */
export type OnRunEnd = Infer<typeof onRunEnd>

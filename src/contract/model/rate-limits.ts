import { aNumberFromZero, type FieldsOf, object, optional, type ShapeOf } from '../shape/shape.ts'

const rateLimitFields = {
  /** How much the service allows within its window. */
  limit: optional(aNumberFromZero),
  /** How much of that is left. */
  remaining: optional(aNumberFromZero),
  /** Milliseconds until it is whole again, counted from the answer. */
  resetMs: optional(aNumberFromZero),
}

/** One limit of a service: what it allows, what is left of it, and when it is whole again. */
export interface RateLimit extends FieldsOf<typeof rateLimitFields> {}
const rateLimit: ShapeOf<RateLimit> = object<RateLimit>(rateLimitFields)

const rateLimitsFields = {
  requests: optional(rateLimit),
  tokens: optional(rateLimit),
  inputTokens: optional(rateLimit),
  outputTokens: optional(rateLimit),
}

/**
 * What a service says of its rate limits in the headers of an answer. Of how long a window they are, the service decides: a minute mostly, a day for
 * the requests of some.
 *
 * Source: docs/concepts/limits-and-retries.md
 */
export interface RateLimits extends FieldsOf<typeof rateLimitsFields> {}
export const rateLimits: ShapeOf<RateLimits> = object<RateLimits>(rateLimitsFields)
/** What is limited. */
export type RateLimited = keyof RateLimits

import {
  aNumber,
  aNumberFromZero,
  type FieldsOf,
  filled,
  fixedListOf,
  type GivenOf,
  type GivenShape,
  object,
  optional,
  type ShapeOf,
  wholeFrom,
} from '../shape/shape.ts'

const separateFields = {
  input: aNumberFromZero,
  output: aNumberFromZero,
  cacheRead: aNumberFromZero,
  cacheWrite: aNumberFromZero,
  /** Part of `cacheWrite` with a one-hour cache lifetime. */
  cacheWrite1h: optional(aNumberFromZero),
}

/** Tokens of model calls that a provider makes internally. Source: docs/concepts/limits.md */
export interface SeparateUsage extends FieldsOf<typeof separateFields> {}

const tokens = filled(aNumber, () => 0)
const usageFields = {
  /** Prompt tokens that were not cached. */
  input: tokens,
  /** Generated tokens, including reasoning. */
  output: tokens,
  /** Part of `output` spent on reasoning. */
  reasoning: tokens,
  /** Prompt tokens read from a cache. */
  cacheRead: tokens,
  /** Prompt tokens written to a cache. */
  cacheWrite: tokens,
  /** `input + output + cacheRead + cacheWrite`, unless the provider reports its own total. */
  totalTokens: tokens,
  /** Provider-executed searches, which may be billed per search. */
  searches: optional(aNumberFromZero),
  /** Audio part of `input`. */
  audioInput: optional(aNumberFromZero),
  /** Audio part of `output`. */
  audioOutput: optional(aNumberFromZero),
  /** Part of `cacheWrite` with a one-hour cache lifetime. */
  cacheWrite1h: optional(aNumberFromZero),
  /** Usage billed outside the request, such as the provider's compaction or an advisor model. Not included in any other field. */
  beside: optional(object<SeparateUsage>(separateFields)),
  /** Cost in USD that the provider reports, used instead of `ModelConfig.cost`. A sum contains this field only if every summand does. */
  reportedCost: optional(aNumberFromZero),
  /** Tokens of the last prompt and its response, if the response took several requests. */
  contextTokens: optional(aNumberFromZero),
}

/**
 * Token usage of one or more model calls.
 *
 * **Contract**
 * - `input` excludes cached tokens: `input + cacheRead + cacheWrite` is the whole prompt.
 * - `reasoning` is part of `output`. Nothing is counted twice.
 *
 * Source: docs/concepts/messages.md
 */
export interface Usage extends FieldsOf<typeof usageFields> {}
/** Usage input, in which zeros may be omitted. */
export const usage: GivenShape<Usage, GivenOf<typeof usageFields>> = object<Usage>(usageFields, [])

const rateFields = {
  /** Prompt tokens that were not cached. */
  inputPerMillion: aNumberFromZero,
  outputPerMillion: aNumberFromZero,
  cacheReadPerMillion: aNumberFromZero,
  cacheWritePerMillion: aNumberFromZero,
  /** Prompt tokens written to a one-hour cache. Default: 1.6 times `cacheWritePerMillion`, the usual ratio. */
  cacheWrite1hPerMillion: optional(aNumberFromZero),
}

/** Rates in USD per million tokens. */
export interface TokenRates extends FieldsOf<typeof rateFields> {}

const tierFields = {
  /** Prompt size in tokens, including cached ones, above which the tier applies. */
  inputTokensAbove: wholeFrom(1),
  ...rateFields,
}

/** Rates for calls with long prompts. The rates apply to the whole call, including its response. Source: docs/concepts/limits.md */
export interface CostTier extends FieldsOf<typeof tierFields> {}
const costTier: ShapeOf<CostTier> = object<CostTier>(tierFields)

export const costFields = {
  ...rateFields,
  /** Tiers for long prompts. The tier with the highest reached threshold applies to the whole call. */
  tiers: optional(fixedListOf(costTier)),
}

/** Prices in USD per million tokens. All zero means unknown: no cost is computed. Source: docs/concepts/limits.md */
export interface CostConfig extends FieldsOf<typeof costFields> {}
export const costConfig: ShapeOf<CostConfig> = object<CostConfig>(costFields)

/** Returns a new `Usage` of zeros. */
export function emptyUsage(): Usage {
  return { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
}

/** Returns the sum of two usages as a new object. */
export function combineUsage(a: Usage, b: Usage): Usage {
  const sum = merged(a, b, (one, other) => one + other)
  const isPaid = isPaidFor(a) && isPaidFor(b) && (a.reportedCost ?? b.reportedCost) !== undefined
  if (isPaid) sum.reportedCost = (a.reportedCost ?? 0) + (b.reportedCost ?? 0)
  return sum
}

/** Returns the difference of `whole` and `part` as a new object. */
export function usageBeyond(whole: Usage, part: Usage): Usage {
  const rest = merged(whole, part, (one, other) => one - other)
  if (whole.reportedCost !== undefined) rest.reportedCost = Math.max(0, whole.reportedCost - (part.reportedCost ?? 0))
  return rest
}

/** Returns the maximum of each field as a new object. */
export function largerUsage(a: Usage, b: Usage): Usage {
  const larger = merged(a, b, Math.max)
  if ((a.reportedCost ?? b.reportedCost) !== undefined) larger.reportedCost = Math.max(a.reportedCost ?? 0, b.reportedCost ?? 0)
  return larger
}

const usageDetails = ['searches', 'audioInput', 'audioOutput', 'cacheWrite1h'] as const

function merged(a: Usage, b: Usage, figure: (a: number, b: number) => number): Usage {
  const both: Usage = {
    input: figure(a.input, b.input),
    output: figure(a.output, b.output),
    reasoning: figure(a.reasoning, b.reasoning),
    cacheRead: figure(a.cacheRead, b.cacheRead),
    cacheWrite: figure(a.cacheWrite, b.cacheWrite),
    totalTokens: figure(a.totalTokens, b.totalTokens),
  }
  for (const detail of usageDetails) {
    const isCounted = a[detail] !== undefined || b[detail] !== undefined
    if (isCounted) both[detail] = figure(a[detail] ?? 0, b[detail] ?? 0)
  }
  if ((a.beside ?? b.beside) !== undefined) both.beside = mergedSeparate(a.beside ?? nothing, b.beside ?? nothing, figure)
  return both
}

const nothing: SeparateUsage = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })

function mergedSeparate(a: SeparateUsage, b: SeparateUsage, figure: (a: number, b: number) => number): SeparateUsage {
  const forAnHour = (a.cacheWrite1h ?? b.cacheWrite1h) === undefined ? undefined : figure(a.cacheWrite1h ?? 0, b.cacheWrite1h ?? 0)
  return {
    input: figure(a.input, b.input),
    output: figure(a.output, b.output),
    cacheRead: figure(a.cacheRead, b.cacheRead),
    cacheWrite: figure(a.cacheWrite, b.cacheWrite),
    ...(forAnHour !== undefined && { cacheWrite1h: forAnHour }),
  }
}

/** Returns whether the cost was reported, or is zero. */
export function isPaidFor({ reportedCost, totalTokens, input, output, beside: separate }: Usage): boolean {
  return reportedCost !== undefined || (totalTokens === 0 && input === 0 && output === 0 && separate === undefined)
}

/**
 * Returns the tokens of the last prompt and its response, which is the used part of the context window. If a response was continued over
 * several calls, returns those of the last call.
 *
 * Source: docs/concepts/context.md
 */
export function contextTokensOf({ contextTokens, input, cacheRead, cacheWrite, output }: Usage): number {
  return contextTokens ?? input + cacheRead + cacheWrite + output
}

/** Rates of a model with unknown prices. */
export const unknownCost: CostConfig = Object.freeze({
  inputPerMillion: 0,
  outputPerMillion: 0,
  cacheReadPerMillion: 0,
  cacheWritePerMillion: 0,
})

/** Returns whether prices are known: rates that are all zero mean unknown. */
export function hasRates({ cost }: { cost: CostConfig }): boolean {
  return isPriced(cost) || cost.tiers?.some(isPriced) === true
}

const rateNames = Object.keys(rateFields) as (keyof TokenRates)[] // the table's own keys

function isPriced(rates: TokenRates): boolean {
  for (const name of rateNames) if ((rates[name] ?? 0) > 0) return true
  return false
}

/** Providers charge twice the input rate for a one-hour cache write, and 1.25 times for a five-minute one. */
const hourToMinutes = 1.6

/** Returns the rates for a response with `usage`: those of the highest tier that its prompt reaches. */
export function ratesFor({ input, cacheRead, cacheWrite, contextTokens }: Usage, cost: CostConfig): Required<TokenRates> {
  const sum = input + cacheRead + cacheWrite
  // Each request is billed by its own prompt, and the last prompt is the longest.
  const prompt = contextTokens === undefined ? sum : Math.min(sum, contextTokens)
  let rates: TokenRates = cost
  let threshold = -1
  for (const tier of cost.tiers ?? []) {
    // A threshold of NaN counts as reached: the higher price applies.
    const isReached = !(prompt <= tier.inputTokensAbove)
    if (!isReached || tier.inputTokensAbove < threshold) continue
    rates = tier
    threshold = tier.inputTokensAbove
  }
  const { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion } = rates
  const cacheWrite1hPerMillion = rates.cacheWrite1hPerMillion ?? cacheWritePerMillion * hourToMinutes
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion, cacheWrite1hPerMillion }
}

/**
 * Returns the cost of one response in USD: as reported, or at the rates of `cost`, including `beside`. Reasoning is part of `output`.
 *
 * **Contract**
 * - Tiers depend on the prompt length of a single call. For several responses, add their costs, because summed usage would be priced as
 *   one long prompt.
 *
 * Source: docs/concepts/limits.md
 */
export function estimatedCost(usage: Usage, cost: CostConfig): number {
  if (usage.reportedCost !== undefined) return usage.reportedCost
  const rates = ratesFor(usage, cost)
  const forAnHour = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite)
  const separateCost = usage.beside === undefined ? 0 : estimatedCost({ ...emptyUsage(), ...usage.beside }, cost)
  return (
    separateCost +
    (usage.input * rates.inputPerMillion +
      usage.output * rates.outputPerMillion +
      usage.cacheRead * rates.cacheReadPerMillion +
      (usage.cacheWrite - forAnHour) * rates.cacheWritePerMillion +
      forAnHour * rates.cacheWrite1hPerMillion) /
      1_000_000
  )
}

/** Returns the share of the prompt read from a cache, 0 to 1, or 0 for an empty prompt. */
export function cacheHitRate(usage: Usage): number {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return prompt === 0 ? 0 : usage.cacheRead / prompt
}

const rateLimitFields = {
  /** Quota per window. */
  limit: optional(aNumberFromZero),
  /** Remaining quota. */
  remaining: optional(aNumberFromZero),
  /** Milliseconds until the quota is full again, counted from the response. */
  resetMs: optional(aNumberFromZero),
}

/** One rate limit: quota, remainder and reset. */
export interface RateLimit extends FieldsOf<typeof rateLimitFields> {}
const rateLimit: ShapeOf<RateLimit> = object<RateLimit>(rateLimitFields)

const rateLimitsFields = {
  requests: optional(rateLimit),
  tokens: optional(rateLimit),
  inputTokens: optional(rateLimit),
  outputTokens: optional(rateLimit),
}

/**
 * Rate limits from response headers. The provider chooses the window: usually a minute, or a day for some request quotas.
 *
 * Source: docs/concepts/limits.md
 */
export interface RateLimits extends FieldsOf<typeof rateLimitsFields> {}
export const rateLimits: ShapeOf<RateLimits> = object<RateLimits>(rateLimitsFields)
/** The limited quantity. */
export type RateLimited = keyof RateLimits

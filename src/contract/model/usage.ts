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

const besideFields = {
  input: aNumberFromZero,
  output: aNumberFromZero,
  cacheRead: aNumberFromZero,
  cacheWrite: aNumberFromZero,
  /** Part of `cacheWrite` that is kept for an hour. */
  cacheWrite1h: optional(aNumberFromZero),
}

/** Tokens of requests that a service makes by itself. Source: docs/concepts/limits.md */
export interface UsageBeside extends FieldsOf<typeof besideFields> {}

const tokens = filled(aNumber, () => 0)
const usageFields = {
  /** Prompt tokens neither read from nor written to a cache. */
  input: tokens,
  /** Generated tokens, reasoning included. */
  output: tokens,
  /** Part of `output` spent on reasoning. */
  reasoning: tokens,
  /** Prompt tokens served from a cache. */
  cacheRead: tokens,
  /** Prompt tokens written to a cache. */
  cacheWrite: tokens,
  /** `input + output + cacheRead + cacheWrite`, unless the service reports its own total. */
  totalTokens: tokens,
  /** Searches that the service ran by itself, as it counts them; it may charge for each. */
  searches: optional(aNumberFromZero),
  /** Part of `input` that was sound. */
  audioInput: optional(aNumberFromZero),
  /** Part of `output` that is sound. */
  audioOutput: optional(aNumberFromZero),
  /** Part of `cacheWrite` that is kept for an hour. */
  cacheWrite1h: optional(aNumberFromZero),
  /** What the service charges for besides, and counts in no figure above: a compaction of its own, a model that it asks for advice. */
  beside: optional(object<UsageBeside>(besideFields)),
  /** What the service says it charges, in USD. Stands in place of the cost at `ModelConfig.cost`. Of a sum: only where each part has it. */
  reportedCost: optional(aNumberFromZero),
  /** Tokens of the last prompt and its answer, where the answer took several requests. */
  contextTokens: optional(aNumberFromZero),
}

/**
 * Tokens of one or more model calls.
 *
 * **Contract**
 * - `input` excludes cached tokens: `input + cacheRead + cacheWrite` is the whole prompt.
 * - `reasoning` is part of `output`; nothing is counted twice.
 *
 * Source: docs/concepts/messages.md
 */
export interface Usage extends FieldsOf<typeof usageFields> {}
/** A caller may leave out what is zero. */
export const usage: GivenShape<Usage, GivenOf<typeof usageFields>> = object<Usage>(usageFields, [])

const rateFields = {
  /** Prompt tokens that no cache had. */
  inputPerMillion: aNumberFromZero,
  outputPerMillion: aNumberFromZero,
  cacheReadPerMillion: aNumberFromZero,
  cacheWritePerMillion: aNumberFromZero,
  /** What is kept for an hour. Default: 1.6 times `cacheWritePerMillion`, as services ask that keep it. */
  cacheWrite1hPerMillion: optional(aNumberFromZero),
}

/** Rates in USD per million tokens. */
export interface TokenRates extends FieldsOf<typeof rateFields> {}

const tierFields = {
  /** The tier holds for prompts of more tokens than this, cached ones included. */
  inputTokensAbove: wholeFrom(1),
  ...rateFields,
}

/** What a call with a long prompt costs: all of it, its answer too. Source: docs/concepts/limits.md */
export interface CostTier extends FieldsOf<typeof tierFields> {}
const costTier: ShapeOf<CostTier> = object<CostTier>(tierFields)

export const costFields = {
  ...rateFields,
  /** Rates of long prompts. Of those that hold for a prompt, the one with the highest threshold counts, for the whole call. */
  tiers: optional(fixedListOf(costTier)),
}

/** Prices in USD per million tokens. All zero means "unknown": no cost is computed. Source: docs/concepts/limits.md */
export interface CostConfig extends FieldsOf<typeof costFields> {}
export const costConfig: ShapeOf<CostConfig> = object<CostConfig>(costFields)

/** A `Usage` of zeros. Returns a new object each time. */
export function emptyUsage(): Usage {
  return { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
}

/** The sum of two usages, as a new object. */
export function combineUsage(a: Usage, b: Usage): Usage {
  const sum = merged(a, b, (one, other) => one + other)
  const isPaid = isPaidFor(a) && isPaidFor(b) && (a.reportedCost ?? b.reportedCost) !== undefined
  if (isPaid) sum.reportedCost = (a.reportedCost ?? 0) + (b.reportedCost ?? 0)
  return sum
}

/** What `whole` has beyond `part`, as a new object. */
export function usageBeyond(whole: Usage, part: Usage): Usage {
  const rest = merged(whole, part, (one, other) => one - other)
  if (whole.reportedCost !== undefined) rest.reportedCost = Math.max(0, whole.reportedCost - (part.reportedCost ?? 0))
  return rest
}

/** Of each figure the larger one, as a new object. */
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
  if ((a.beside ?? b.beside) !== undefined) both.beside = mergedBeside(a.beside ?? nothing, b.beside ?? nothing, figure)
  return both
}

const nothing: UsageBeside = Object.freeze({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })

function mergedBeside(a: UsageBeside, b: UsageBeside, figure: (a: number, b: number) => number): UsageBeside {
  const forAnHour = (a.cacheWrite1h ?? b.cacheWrite1h) === undefined ? undefined : figure(a.cacheWrite1h ?? 0, b.cacheWrite1h ?? 0)
  return {
    input: figure(a.input, b.input),
    output: figure(a.output, b.output),
    cacheRead: figure(a.cacheRead, b.cacheRead),
    cacheWrite: figure(a.cacheWrite, b.cacheWrite),
    ...(forAnHour !== undefined && { cacheWrite1h: forAnHour }),
  }
}

/** Whether what it cost was reported, or it cost nothing. */
export function isPaidFor({ reportedCost, totalTokens, input, output, beside }: Usage): boolean {
  return reportedCost !== undefined || (totalTokens === 0 && input === 0 && output === 0 && beside === undefined)
}

/**
 * Tokens of the last prompt and its answer: how much of the context window they took. If an answer was continued in several calls, those of the last call;
 * `usage` is their sum.
 *
 * Source: docs/concepts/context.md
 */
export function contextTokensOf({ contextTokens, input, cacheRead, cacheWrite, output }: Usage): number {
  return contextTokens ?? input + cacheRead + cacheWrite + output
}

/** The rates of a model whose prices are not known. */
export const unknownCost: CostConfig = Object.freeze({
  inputPerMillion: 0,
  outputPerMillion: 0,
  cacheReadPerMillion: 0,
  cacheWritePerMillion: 0,
})

/** Whether there are prices at all: rates that are all zero mean that they are not known. */
export function hasRates({ cost }: { cost: CostConfig }): boolean {
  return isPriced(cost) || cost.tiers?.some(isPriced) === true
}

const rateNames = Object.keys(rateFields) as (keyof TokenRates)[] // the keys of that very table

function isPriced(rates: TokenRates): boolean {
  for (const name of rateNames) if ((rates[name] ?? 0) > 0) return true
  return false
}

/** Services that keep a prompt for an hour ask twice their input rate for it, and 1.25 times it for some minutes. */
const hourToMinutes = 1.6

/** The rates for the answer that used `usage`: those of the highest tier that its prompt has reached. */
export function ratesFor({ input, cacheRead, cacheWrite, contextTokens }: Usage, cost: CostConfig): Required<TokenRates> {
  const sum = input + cacheRead + cacheWrite
  // Of an answer that took several requests, each of which is charged by its own prompt, the last one's was the longest.
  const prompt = contextTokens === undefined ? sum : Math.min(sum, contextTokens)
  let rates: TokenRates = cost
  let threshold = -1
  for (const tier of cost.tiers ?? []) {
    // A threshold that is no number is reached: the tier is the dearer one.
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
 * Cost of one answer in USD: what the service reported, else at the rates of `cost`, with what it charges for `beside`; reasoning is already inside `output`.
 *
 * **Contract**
 * - Tiers go by the prompt of one call. For several answers, add up the costs: the sum of their usages would be priced as one long prompt.
 *
 * Source: docs/concepts/limits.md
 */
export function estimatedCost(usage: Usage, cost: CostConfig): number {
  if (usage.reportedCost !== undefined) return usage.reportedCost
  const rates = ratesFor(usage, cost)
  const forAnHour = Math.min(usage.cacheWrite1h ?? 0, usage.cacheWrite)
  const beside = usage.beside === undefined ? 0 : estimatedCost({ ...emptyUsage(), ...usage.beside }, cost)
  return (
    beside +
    (usage.input * rates.inputPerMillion +
      usage.output * rates.outputPerMillion +
      usage.cacheRead * rates.cacheReadPerMillion +
      (usage.cacheWrite - forAnHour) * rates.cacheWritePerMillion +
      forAnHour * rates.cacheWrite1hPerMillion) /
      1_000_000
  )
}

/** Share of the prompt served from a cache, 0 to 1; 0 for an empty prompt. */
export function cacheHitRate(usage: Usage): number {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return prompt === 0 ? 0 : usage.cacheRead / prompt
}

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
 * Source: docs/concepts/limits.md
 */
export interface RateLimits extends FieldsOf<typeof rateLimitsFields> {}
export const rateLimits: ShapeOf<RateLimits> = object<RateLimits>(rateLimitsFields)
/** What is limited. */
export type RateLimited = keyof RateLimits

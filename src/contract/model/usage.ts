import {
  aNumber,
  aNumberFromZero,
  type FieldsOf,
  filled,
  type GivenOf,
  type GivenShape,
  object,
  optional,
  type ShapeOf,
} from '../shape/shape.ts'

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

export const costFields = {
  inputPerMillion: aNumberFromZero,
  outputPerMillion: aNumberFromZero,
  cacheReadPerMillion: aNumberFromZero,
  cacheWritePerMillion: aNumberFromZero,
}

/** Prices in USD per million tokens. All zero means "unknown": no cost is computed. Source: docs/concepts/messages.md */
export interface CostConfig extends FieldsOf<typeof costFields> {}
export const costConfig: ShapeOf<CostConfig> = object<CostConfig>(costFields)

/** A `Usage` of zeros. Returns a new object each time. */
export function emptyUsage(): Usage {
  return { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
}

/** The sum of two usages, as a new object. */
export function combineUsage(a: Usage, b: Usage): Usage {
  const sum = addUp(a, b, 1)
  const isPaid = isPaidFor(a) && isPaidFor(b) && (a.reportedCost ?? b.reportedCost) !== undefined
  if (isPaid) sum.reportedCost = (a.reportedCost ?? 0) + (b.reportedCost ?? 0)
  return sum
}

/** What `whole` has beyond `part`, as a new object. */
export function usageBeyond(whole: Usage, part: Usage): Usage {
  const rest = addUp(whole, part, -1)
  if (whole.reportedCost !== undefined) rest.reportedCost = Math.max(0, whole.reportedCost - (part.reportedCost ?? 0))
  return rest
}

const usageDetails = ['searches', 'audioInput', 'audioOutput', 'cacheWrite1h'] as const

function addUp(a: Usage, b: Usage, sign: 1 | -1): Usage {
  const sum: Usage = {
    input: a.input + sign * b.input,
    output: a.output + sign * b.output,
    reasoning: a.reasoning + sign * b.reasoning,
    cacheRead: a.cacheRead + sign * b.cacheRead,
    cacheWrite: a.cacheWrite + sign * b.cacheWrite,
    totalTokens: a.totalTokens + sign * b.totalTokens,
  }
  for (const detail of usageDetails) {
    const isCounted = a[detail] !== undefined || b[detail] !== undefined
    if (isCounted) sum[detail] = (a[detail] ?? 0) + sign * (b[detail] ?? 0)
  }
  return sum
}

/** Whether what it cost was reported, or it cost nothing. */
function isPaidFor({ reportedCost, totalTokens, input, output }: Usage): boolean {
  return reportedCost !== undefined || (totalTokens === 0 && input === 0 && output === 0)
}

/**
 * Tokens of the last prompt and its answer: how much of the context window they took. Of an answer that was continued in several calls, those of the
 * last call; `usage` is their sum.
 *
 * Source: docs/concepts/context-and-compaction.md
 */
export function contextTokensOf({ contextTokens, input, cacheRead, cacheWrite, output }: Usage): number {
  return contextTokens ?? input + cacheRead + cacheWrite + output
}

/** Whether there are prices at all: rates that are all zero mean that they are not known. */
export function hasRates({ cost }: { cost: CostConfig }): boolean {
  return cost.inputPerMillion + cost.outputPerMillion + cost.cacheReadPerMillion + cost.cacheWritePerMillion > 0
}

/** Cost of `usage` in USD: what the service reported, else at the rates of `cost`; reasoning is already inside `output`. */
export function estimatedCost(usage: Usage, cost: CostConfig): number {
  if (usage.reportedCost !== undefined) return usage.reportedCost
  return (
    (usage.input * cost.inputPerMillion +
      usage.output * cost.outputPerMillion +
      usage.cacheRead * cost.cacheReadPerMillion +
      usage.cacheWrite * cost.cacheWritePerMillion) /
    1_000_000
  )
}

/** Share of the prompt served from a cache, 0 to 1; 0 for an empty prompt. */
export function cacheHitRate(usage: Usage): number {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return prompt === 0 ? 0 : usage.cacheRead / prompt
}

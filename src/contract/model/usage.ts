import { aNumber, aNumberFromZero, type FieldsOf, filled, type GivenOf, type GivenShape, object, type ShapeOf } from '../shape/shape.ts'

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
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    totalTokens: a.totalTokens + b.totalTokens,
  }
}

/** Whether there are prices at all: rates that are all zero mean that they are not known. */
export function hasRates({ cost }: { cost: CostConfig }): boolean {
  return cost.inputPerMillion + cost.outputPerMillion + cost.cacheReadPerMillion + cost.cacheWritePerMillion > 0
}

/** Cost of `usage` in USD at the rates of `cost`; reasoning is already inside `output`. */
export function estimatedCost(usage: Usage, cost: CostConfig): number {
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

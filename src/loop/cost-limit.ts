import type { LoopRun } from './loop-run.ts'

/** Logs that a cost limit can never apply: with every rate zero the cost of a model is unknown, not free. */
export function warnOfUselessLimit(run: LoopRun): void {
  const { limits, model } = run.config
  const { cost, id } = model.config
  if (!limits || cost.inputPerMillion + cost.outputPerMillion + cost.cacheReadPerMillion + cost.cacheWritePerMillion > 0) return
  run.warn('costLimitWithoutRates', {
    model: id,
    maxCost: limits.maxCost ?? 0,
    hint: 'Set cost in the model config; without rates the limit never applies.',
  })
}

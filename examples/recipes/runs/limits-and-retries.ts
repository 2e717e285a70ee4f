import { Agent, type Logger, type Model } from 'phi-core'
import { defaultLimits, defaultRetry } from 'phi-core/loop'

export function carefulAgent(model: Model, logger: Logger): Agent {
  return new Agent({
    model,
    limits: { ...defaultLimits, maxTurns: 10, maxCost: 0.5 }, // USD; requires prices in the `cost` of the model
    retry: { ...defaultRetry, maxRetries: 5, initialDelayMs: 500 },
    toolTimeoutMs: 30_000,
    logger, // logs every retry
  })
}

import { checkContextConfig } from '../context/tokens/context-limits.ts'
import { ConfigError } from '../types/errors.ts'
import { defaultLimits, defaultRetry } from '../types/settings.ts'
import type { LoopConfig } from './loop-config.ts'

/**
 * Throws `ConfigError` `invalidOption` for a setting that cannot work, naming it, its value and what is allowed. `NaN` never works: every
 * comparison with it is false, so that a limit would not limit and retries would not end.
 */
export function checkConfig(config: Partial<LoopConfig>): void {
  const { toolExecution, limits, retry, contextConfig } = config
  const size = toolExecution?.type === 'batched' ? toolExecution.size : 1
  if (!(Number.isInteger(size) && size > 0)) throw invalid('toolExecution.size', size, 'a whole number from 1')
  for (const name of ['maxTokens', 'toolTimeoutMs', 'approvalTimeoutMs'] as const) checkPositive(name, config[name])
  if (limits) checkFromZero('limits', { maxCost: 0, ...defaultLimits, ...limits })
  checkFromZero('retry', { ...defaultRetry, ...retry })
  if (contextConfig) checkFromZero('contextConfig', { ...contextConfig, ...contextConfig.compaction })
  checkContextConfig(contextConfig, config.model?.config ?? { contextWindow: 0, maxTokens: 0 })
}

/** Throws `ConfigError` `invalidOption` unless `value` is greater than 0 or left out. */
export function checkPositive(name: string, value = 1): void {
  if (!(value > 0)) throw invalid(name, value, 'greater than 0, or left out')
}

/** Checks every number among `values`. */
function checkFromZero(group: string, values: object): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'number' && !(value >= 0)) throw invalid(`${group}.${name}`, value, 'a number from 0')
  }
}

function invalid(name: string, value: number, allowed: string): ConfigError {
  return new ConfigError('invalidOption', `${name} is ${value}; it must be ${allowed}.`)
}

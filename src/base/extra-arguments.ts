import { ConfigError } from '../contract/errors.ts'
import { isObject } from '../contract/json.ts'
import { shown } from '../contract/shape/shown-value.ts'

/**
 * Throws `ConfigError` `invalidOption` for arguments after those that a method takes. It names the keys of an object, and ends with `advice`. What is
 * `undefined` counts as left out.
 */
export function refuseMore(method: string, more: readonly unknown[], advice: string): void {
  const given = more.filter((argument) => argument !== undefined)
  if (given.length === 0) return
  const names = given.flatMap((argument) =>
    isObject(argument) ? Object.entries(argument).map(([key, value]) => `${key} (${shown(value, key)})`) : [shown(argument, method)],
  )
  throw new ConfigError('invalidOption', `${method} does not take ${names.join(', ') || 'an object'}. ${advice}`)
}

/** What to do in place of a message with more arguments. */
export const queueAdvice = 'It takes the input alone: the settings of the run hold. Pass others to the next prompt.'

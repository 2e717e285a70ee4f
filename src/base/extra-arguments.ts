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

/** What calls of browser tools and requests for input take, and nothing more. */
const answerAdvice = {
  claimCall: 'It takes the request and the id of the client.',
  answerCall: 'It takes the request, what came of the call, and the id of the client.',
  answer: 'It takes the request and the answer.',
}

/** As `refuseMore`, for one of the methods that claim and answer what a run asks. */
export function refuseMoreAnswers(method: keyof typeof answerAdvice, more: readonly unknown[]): void {
  refuseMore(method, more, answerAdvice[method])
}

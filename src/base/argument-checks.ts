import { ConfigError } from '../contract/errors.ts'
import { fieldIn, isObject } from '../contract/json.ts'
import type { ModelConfig } from '../contract/model/model-config.ts'
import { costConfig } from '../contract/model/usage.ts'
import { shown } from '../contract/shape/json-fault.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aNumberFromZero,
  aText,
  either,
  kind,
  type OptionTable,
  options,
  required,
  type Shape,
  withMethods,
} from '../contract/shape/shape.ts'
import type { Model } from '../types/model/model.ts'

/** A set, an array, or another iterable of tools. Each tool is validated on use. */
export const someTools: Shape = kind('a list of tools', (value) => typeof fieldIn(value, Symbol.iterator) === 'function')

export const aBudget: Shape = withMethods('a budget', 'charge', 'exceeded')
export const aLogger: Shape = {
  ...either(
    kind('false', (value) => value === false),
    withMethods('a logger', 'warn'),
  ),
  expected: 'a logger, with warn(), or false for silence',
}
export const aJournal: Shape = withMethods('a journal', 'append')
/** A session store with these methods. */
export const storeWith = (...methods: readonly string[]): Shape =>
  withMethods('a session store, such as fileSessionStore("./sessions") of phi-core/node, or memorySessionStore()', ...methods)
export const aStore: Shape = storeWith('journal', 'open', 'tail')

/** Throws `ConfigError` `invalidOption` for a `store` without one of these methods. Default: the methods that an agent needs. */
export function checkStore(store: unknown, ...methods: readonly string[]): void {
  checkOptions(store, methods.length === 0 ? aStore : storeWith(...methods), 'store')
}
export const aWorkspace: Shape = withMethods('a workspace', 'read', 'write', 'stat', 'list', 'remove')
export const aSkillSet: Shape = withMethods('a set of skills from loadSkills', 'get', 'merge', 'select', 'formatForPrompt')

const modelConfig: OptionTable<Pick<ModelConfig, 'id' | 'provider' | 'contextWindow' | 'maxTokens' | 'cost'>> = {
  id: required(aText),
  provider: required(aText),
  // The context window is 0 if unknown.
  contextWindow: required(aNumberFromZero),
  maxTokens: required(aNumberFromZero),
  cost: required(costConfig),
}

export const aDescribedModel = options(
  {
    config: required(options(modelConfig, true)),
    provider: required(withMethods('a provider', 'stream', 'encode')),
    credentials: withMethods('a credential provider', 'current', 'invalidate'),
  },
  true,
)

/** A `Blob` from any realm, or bytes. */
export const aFile: Shape = kind(
  'a Blob, a File or bytes. Read it first, such as with readFile of node:fs/promises',
  (value) => value instanceof Uint8Array || typeof Object(value).arrayBuffer === 'function',
)

/** A usable model from a factory. */
export const aModel: Shape = {
  ...aDescribedModel,
  inside: (value) => (value as Model).unusable, // validated above
  expected: 'a model from a factory, for example anthropic("claude-…", { apiKey })',
}

/**
 * Throws `ConfigError` `invalidOption` for extra arguments. The message names the keys of an object, and ends with `advice`. `undefined`
 * counts as omitted.
 */
export function refuseMore(method: string, more: readonly unknown[], advice: string): void {
  const given = more.filter((argument) => argument !== undefined)
  if (given.length === 0) return
  const names = given.flatMap((argument) =>
    isObject(argument) ? Object.entries(argument).map(([key, value]) => `${key} (${shown(value, key)})`) : [shown(argument, method)],
  )
  throw new ConfigError('invalidOption', `${method} does not take ${names.join(', ') || 'an object'}. ${advice}`)
}

/** Hint for an error about extra arguments. */
export const queueAdvice = 'Pass only the input. The run keeps its settings; pass new ones to the next prompt.'

/** Hints for methods that respond to client tool calls and input requests. */
const answerAdvice = {
  claimCall: 'Pass the request and the client id.',
  answerCall: 'Pass the request, the result of the call and the client id.',
  answer: 'Pass the request and the answer.',
}

/** Like `refuseMore`, for methods that claim or respond to a run's request. */
export function refuseMoreAnswers(method: keyof typeof answerAdvice, more: readonly unknown[]): void {
  refuseMore(method, more, answerAdvice[method])
}

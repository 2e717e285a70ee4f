import type { ModelConfig } from '../contract/model/model-config.ts'
import type { Model } from '../types/model/model.ts'
import { aNumberFromZero, aText, type Kind, kind, type OptionTable, options, recordOf, required, withMethods } from './check-options.ts'

const writer = withMethods('a logger', 'warn')

export const aBudget: Kind = withMethods('a budget', 'charge', 'exceeded')
export const aLogger: Kind = kind('a logger, with warn(), or false for silence', (value) => value === false || writer.fits(value))
export const aJournal: Kind = withMethods('a journal', 'append')
export const aStore: Kind = withMethods('a session store', 'journal', 'open', 'tail')
export const aWorkspace: Kind = withMethods('a workspace', 'read', 'write', 'stat', 'list', 'remove')
export const aSkillSet: Kind = withMethods('a set of skills, as loadSkills makes it', 'get', 'merge', 'select', 'formatForPrompt')

const modelConfig: OptionTable<Pick<ModelConfig, 'id' | 'provider' | 'contextWindow' | 'maxTokens' | 'cost'>> = {
  id: required(aText),
  provider: required(aText),
  // 0 where it is not known.
  contextWindow: required(aNumberFromZero),
  maxTokens: required(aNumberFromZero),
  cost: required(recordOf(aNumberFromZero)),
}

const aDescribedModel = options(
  {
    config: required(options(modelConfig, true)),
    provider: required(withMethods('a provider', 'stream', 'encode')),
    credentials: withMethods('a credential provider', 'current', 'invalidate'),
  },
  true,
)

/** A model, as a factory makes it, that can be called. */
export const aModel: Kind = {
  ...aDescribedModel,
  inside: (value, name) => aDescribedModel.inside?.(value, name) ?? (value as Model).unusable, // what has just been shown to be a model
  names: [],
  expected: 'what a factory makes: an agent needs a model, for example anthropic("claude-…", { apiKey })',
}

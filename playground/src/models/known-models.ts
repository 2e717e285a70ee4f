import { catalogue } from '../../../src/models.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { factoryCall } from './factory-call.ts'

/** A provider's models in the SDK's catalogue. */
export function knownModels(choice: ModelChoice): readonly string[] {
  if (choice.source === 'local' || choice.source === 'scripted') return []
  const { factory, options } = factoryCall(choice)
  const provider = factory === 'openaiCompatible' ? (options.backend ?? '') : factory === 'openaiResponses' ? 'openai' : factory
  return catalogue.list(provider).map(({ id }) => id)
}

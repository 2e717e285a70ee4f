import type { JsonObject, Model } from '../../../src/index.ts'
import type { ModelChoice } from '../settings/settings.ts'
import { type FactoryCall, factoryCall, keyOwnerOf } from './factory-call.ts'
import { keyOf } from './key-vault.ts'

/** Creates the selected model. The key is looked up for each call, so a deleted key is not used again. */
export async function makeModel(choice: ModelChoice): Promise<Model> {
  const call = factoryCall(choice)
  const owner = keyOwnerOf(choice)
  const needsKey = choice.source === 'direct'
  const apiKey = () => {
    const key = owner === undefined ? undefined : keyOf(owner)
    if (key === undefined && needsKey) throw new Error('No key is set. Enter one in the settings.')
    // A proxy or a local server may require no key.
    return key ?? 'none'
  }
  const serverTools = (await call.serviceTools?.kit.declare(call.serviceTools.names)) ?? []
  return made(call, { ...call.options, apiKey, ...(serverTools.length > 0 && { serverTools }) }, choice.source === 'direct')
}

type Options = FactoryCall['options'] & { apiKey: () => string; serverTools?: readonly JsonObject[] }

async function made({ factory, modelId }: FactoryCall, { backend, ...options }: Options, isDirect: boolean): Promise<Model> {
  switch (factory) {
    case 'anthropic': {
      const { anthropic } = await import('../../../src/providers/anthropic/index.ts')
      return anthropic(modelId, { ...options, dangerouslyAllowBrowser: isDirect })
    }
    case 'openai':
      return (await chat()).openai(modelId, options)
    case 'openrouter':
      return (await chat()).openrouter(modelId, options)
    case 'openaiCompatible':
      return (await chat()).openaiCompatible(modelId, { ...options, ...(backend !== undefined && { backend }) })
    case 'local':
      return (await chat()).local(modelId, options)
    case 'openaiResponses':
      return (await import('../../../src/providers/openai.ts')).openaiResponses(modelId, options)
    case 'google':
      return (await import('../../../src/providers/google.ts')).google(modelId, options)
    case 'vertex':
      return (await import('../../../src/providers/google.ts')).vertex(modelId, options)
    case 'azure':
      return (await import('../../../src/providers/openai.ts')).azure(modelId, options)
    case 'bedrock':
      return (await import('../../../src/providers/bedrock/index.ts')).bedrock(modelId, options)
  }
}

const chat = () => import('../../../src/providers/openai.ts')

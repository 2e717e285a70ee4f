import type { KnownApi } from '../../../contract/model/model-config.ts'
import type { ProviderOptions } from '../../../providers/kit/provider-options.ts'
import type { ServerTools } from '../../../providers/kit/server-tools.ts'
import { lateProviders } from '../../../providers/model-name.ts'
import { backendAt } from '../../../providers/openai/backends.ts'
import type { Model } from '../../../types/model/model.ts'

/** What the factory of one protocol takes beside those that all take. */
export interface FactoryOptions extends ProviderOptions {
  resource?: string
  project?: string
  location?: string
  region?: string
  serverTools?: ServerTools
}

type Factory = (id: string, options: FactoryOptions) => Promise<Model>

/** Which factory makes the models of a protocol: a file names one or two of seven, so each is loaded when it is named. */
export const factories: Record<KnownApi, Factory> = {
  anthropicMessages: async (id, options) => (await lateProviders.anthropic.load()).anthropic(id, options),
  openAiCompletions: async (id, options) => chatModel(id, options),
  openAiResponses: async (id, options) => (await lateProviders.responses.load()).openaiResponses(id, options),
  azureOpenAiResponses: async (id, options) => (await lateProviders.responses.load()).azure(id, options),
  googleGenerativeAi: async (id, options) => (await lateProviders.google.load()).google(id, options),
  googleVertex: async (id, options) => (await lateProviders.google.load()).vertex(id, options),
  bedrockConverseStream: async (id, options) => (await lateProviders.bedrock.load()).bedrock(id, options),
}

/** OpenAI itself, a service that is known by its name or address, or any other by its address. */
async function chatModel(id: string, options: FactoryOptions): Promise<Model> {
  const { openai, openaiCompatible, compatPresets } = await lateProviders.chat.load()
  const { provider, baseUrl } = options
  const presets = Object.entries(compatPresets)
  const named = presets.find(([name]) => name === provider?.toLowerCase())
  const backend = named?.[0] ?? backendAt(baseUrl)
  if (backend === undefined ? baseUrl === undefined : backend === 'openai') return openai(id, options)
  const { provider: _, ...others } = options
  return openaiCompatible(id, {
    ...others,
    ...(provider !== undefined && { provider }),
    ...(backend !== undefined && { backend: backend as keyof typeof compatPresets }), // one of its own keys
  })
}

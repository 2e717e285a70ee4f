import { lateChunk } from '../base/late/late-chunk.ts'
import { ConfigError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import type { ApiProtocol, KnownApi } from '../contract/model/model-config.ts'
import type { Backend } from './openai/compat.ts'

/** Protocol names: in configuration files with aliases, in stored sessions, and in this package. */
const names: readonly (readonly [ApiProtocol, ...string[]])[] = [
  ['anthropicMessages', 'anthropic_messages', 'anthropic'],
  ['openAiCompletions', 'openai_completions', 'open_ai_completions', 'openai'],
  ['openAiResponses', 'openai_responses', 'open_ai_responses'],
  ['azureOpenAiResponses', 'azure_openai_responses', 'azure_open_ai_responses', 'azure'],
  ['googleGenerativeAi', 'google_generative_ai', 'google', 'gemini'],
  ['googleVertex', 'google_vertex', 'vertex'],
  ['bedrockConverseStream', 'bedrock_converse_stream', 'bedrock'],
  ['scripted'],
]

/**
 * Returns the protocol for a name in a configuration (`anthropic_messages`, `anthropic`, `anthropicMessages` …), or `undefined` for unknown
 * names.
 */
export function protocolOf(name: string): ApiProtocol | undefined {
  return names.find((spellings) => spellings.some((spelling) => spelling === name))?.[0]
}

/** Provider modules. Each is loaded when one of its protocols is first used. */
export const lateProviders = {
  anthropic: lateChunk('the Anthropic provider', () => import('./anthropic/index.ts')),
  chat: lateChunk('the OpenAI provider', () => import('./openai/chat-chunk.ts')),
  responses: lateChunk('the provider of the Responses API', () => import('./openai-responses/both-services.ts')),
  google: lateChunk('the Google provider', () => import('./google/both-services.ts')),
  bedrock: lateChunk('the Amazon Bedrock provider', () => import('./bedrock/index.ts')),
}

/** A provider with its own factory. */
export interface NamedService {
  api: KnownApi
  /** Environment variables for the key. The first variable that is set is used. */
  keys: readonly string[]
  /** Name of a Chat Completions preset. Absent if the provider has its own factory. */
  backend?: string
}

/** Providers with their own factory that can prefix a model name. `compatPresets` defines the others. */
export const ownServices = {
  anthropic: { api: 'anthropicMessages', keys: ['ANTHROPIC_API_KEY'] },
  openai: { api: 'openAiCompletions', keys: ['OPENAI_API_KEY'] },
  'openai-responses': { api: 'openAiResponses', keys: ['OPENAI_API_KEY'] },
  google: { api: 'googleGenerativeAi', keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'] },
  vertex: { api: 'googleVertex', keys: ['GOOGLE_ACCESS_TOKEN', 'GOOGLE_API_KEY'] },
  azure: { api: 'azureOpenAiResponses', keys: ['AZURE_OPENAI_API_KEY'] },
  bedrock: { api: 'bedrockConverseStream', keys: ['AWS_BEARER_TOKEN_BEDROCK'] },
} as const satisfies Record<string, NamedService>

/** A parsed model name: the provider, and the id to send to it. */
export interface ModelName {
  service: string
  id: string
}

/**
 * Splits `provider/model` at the first slash. The provider name is case-insensitive.
 *
 * **Contract**
 * - Call it only if no other setting selects the provider, because many providers use ids with a slash.
 * - Resolves to `undefined` for a name without a slash.
 * - If the provider is unknown or the id is empty, rejects with `ConfigError` `invalidOption`, which lists the known providers.
 */
export async function splitModelName(name: string): Promise<ModelName | undefined> {
  const slash = name.indexOf('/')
  if (slash === -1) return undefined
  const [service, id] = [name.slice(0, slash).trim().toLowerCase(), name.slice(slash + 1).trim()]
  if (service === '' || id === '') {
    throw new ConfigError(
      'invalidOption',
      `Invalid model name ${JSON.stringify(name.slice(0, 60))}. Pass provider/model, such as anthropic/claude-sonnet-4-6 or ollama/llama3.3.`,
    )
  }
  if ((await serviceNamed(service)) !== undefined) return { service, id }
  const { compatPresets } = await lateProviders.chat.load()
  const known = [...new Set([...Object.keys(ownServices), ...Object.keys(compatPresets)])].join(', ')
  throw new ConfigError('invalidOption', `Unknown provider ${JSON.stringify(service.slice(0, 60))} in the model name. Known: ${known}.`)
}

/** Returns the provider called `name`, case-insensitive, or `undefined` if it is unknown. */
export async function serviceNamed(name: string): Promise<NamedService | undefined> {
  const service = name.trim().toLowerCase()
  const own = ownOf<NamedService>(ownServices, service)
  if (own !== undefined) return own
  const { compatPresets } = await lateProviders.chat.load()
  const preset = ownOf<Backend>(compatPresets, service)
  if (preset === undefined) return undefined
  const { apiKeyVariable } = preset
  return { api: 'openAiCompletions', keys: apiKeyVariable === undefined ? [] : [apiKeyVariable], backend: service }
}

import { ownOf } from '../../src/contract/json.ts'
import { ConfigError, type Model } from '../../src/index.ts'
import { ownServices, serviceNamed, splitModelName } from '../../src/internal.ts'
import { catalogue, type ModelCatalogue } from '../../src/models.ts'
import type { BackendName } from '../../src/providers/openai.ts'
import type { Patience } from '../../src/providers.ts'
import { adviceFor, type Environment } from './environment.ts'

/** Variables that apply to any provider's models. */
type Given = Patience & { apiKey?: string; baseUrl?: string; catalogue?: ModelCatalogue }

/** A provider that a name can start with. */
interface Service {
  /** Variables that may hold its key. The first one that is set is used. */
  keys: readonly string[]
  /** The provider's name in the catalogue. Default: its name in this table. */
  listedAs?: string
  load: (id: string, given: Given, env: Environment) => Promise<Model>
}

/** Providers with their own protocols. Others come from `compatPresets`. Each provider is loaded with its first model. */
const services: Readonly<Record<string, Service>> = {
  anthropic: {
    keys: ownServices.anthropic.keys,
    load: async (id, given) => (await import('../../src/providers/anthropic/index.ts')).anthropic(id, given),
  },
  openai: {
    keys: ownServices.openai.keys,
    load: async (id, given) => (await import('../../src/providers/openai.ts')).openai(id, given),
  },
  'openai-responses': {
    keys: ownServices['openai-responses'].keys,
    listedAs: 'openai',
    load: async (id, given) => (await import('../../src/providers/openai.ts')).openaiResponses(id, given),
  },
  google: {
    keys: ownServices.google.keys,
    load: async (id, given) => (await import('../../src/providers/google.ts')).google(id, given),
  },
  vertex: {
    keys: ownServices.vertex.keys,
    load: async (id, given, env) => {
      const { vertex } = await import('../../src/providers/google.ts')
      const [project, location] = [env.get('GOOGLE_CLOUD_PROJECT'), env.get('GOOGLE_CLOUD_LOCATION')]
      return vertex(id, { ...given, ...(project && { project }), ...(location && { location }) })
    },
  },
  azure: {
    keys: ownServices.azure.keys,
    listedAs: 'azure_openai',
    load: async (id, given, env) => {
      const { azure } = await import('../../src/providers/openai.ts')
      const resource = env.get('AZURE_OPENAI_RESOURCE')
      return azure(id, { ...given, ...(resource && { resource }) })
    },
  },
  bedrock: {
    keys: ownServices.bedrock.keys,
    load: async (id, given, env) => {
      const { bedrock } = await import('../../src/providers/bedrock/index.ts')
      const [accessKeyId, secretAccessKey] = [env.get('AWS_ACCESS_KEY_ID'), env.get('AWS_SECRET_ACCESS_KEY')]
      const sessionToken = env.get('AWS_SESSION_TOKEN')
      const pair = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } : {}
      const region = env.get('AWS_REGION') ?? env.get('AWS_DEFAULT_REGION')
      return bedrock(id, { ...given, ...(given.apiKey === undefined && pair), ...(region && { region }) })
    },
  },
}

/** A current model from each provider, in the order in which keys are checked. */
export const defaultModels: Readonly<Record<string, string>> = {
  anthropic: 'anthropic/claude-sonnet-4-6',
  openai: 'openai/gpt-5.1',
  google: 'google/gemini-3.5-flash',
}

/** Key variables for providers with their own protocols. */
export const keyVariables: readonly string[] = [...new Set(Object.values(services).flatMap(({ keys }) => keys))]

/** Providers in the catalogue, with their key variables and their names there. */
export const keysOfServices: Readonly<Record<string, { keys: readonly string[]; listedAs: string }>> = Object.fromEntries(
  Object.entries(services).map(([name, { keys, listedAs = name }]) => [name, { keys, listedAs }]),
)

/** Returns the default model, or `undefined` without a key. */
export function defaultName(env: Environment): string | undefined {
  return env.get('PHI_MODEL') ?? Object.keys(defaultModels).find((name) => services[name]?.keys.some((variable) => env.get(variable)))
}

/** Returns instructions for making a model available. */
export function noModelAdvice(env: Environment): string {
  const names = Object.keys(defaultModels).map((name) => services[name]?.keys[0] ?? '')
  if (names.some((name) => env.denied.has(name))) return adviceFor(names, env)
  return `Set ${names.slice(0, -1).join(', ')} or ${names.at(-1)} in the environment, or PHI_MODEL=ollama/llama3.3 for a local server.`
}

/**
 * Loads the model `provider/id` with its key from the environment. `<PROVIDER>_BASE_URL` replaces the URL.
 * Throws `ConfigError` for a name without a provider, an unknown provider or a missing key.
 */
export async function loadModel(name: string, env: Environment): Promise<Model> {
  const split = await splitModelName(name)
  if (split === undefined) {
    throw new ConfigError(
      'invalidOption',
      `"${name}" is not a model. Write provider/model, such as anthropic/claude-sonnet-4-6 or ollama/llama3.3.`,
    )
  }
  const { service: provider, id } = split
  const baseUrl = env.get(`${provider.toUpperCase().replaceAll('-', '_')}_BASE_URL`)
  const service = ownOf(services, provider)
  const facts = factsOf(service?.listedAs ?? provider, id)
  const address = { ...patience(env), ...(baseUrl !== undefined && { baseUrl }), ...facts }
  if (service === undefined) return compatible(provider, id, address, env)
  const model = await service.load(id, { ...keyOf(service.keys, env), ...address }, env)
  if (model.unusable !== undefined) throw missingKey(name, service.keys, env)
  return model
}

/** The catalogue, if it lists the model. For other models, `/model` shows that prices are unknown. */
function factsOf(service: string, id: string): { catalogue?: ModelCatalogue } {
  return catalogue.find(service, id) === undefined ? {} : { catalogue }
}

/** A name in `compatPresets`. */
async function compatible(provider: string, id: string, address: Given, env: Environment): Promise<Model> {
  const { keys } = (await serviceNamed(provider)) ?? { keys: [] }
  const { openaiCompatible } = await import('../../src/providers/openai.ts')
  const backend = provider as BackendName // `splitModelName` accepts no others
  const model = openaiCompatible(id, { backend, ...keyOf(keys, env), ...address })
  if (model.unusable !== undefined) throw missingKey(`${provider}/${id}`, keys, env)
  return model
}

/** `PHI_IDLE_TIMEOUT_MS` and the like: milliseconds, or `none`. */
function patience(env: Environment): Patience {
  const limits: Patience = {}
  for (const [limit, variable] of patienceVariables) {
    const value = env.get(variable)
    if (value === undefined) continue
    if (value !== 'none' && !/^[1-9]\d{0,9}$/.test(value)) {
      throw new ConfigError(
        'invalidOption',
        `${variable} is ${JSON.stringify(value.slice(0, 40))}; it must be a number of milliseconds, or none.`,
      )
    }
    limits[limit] = value === 'none' ? false : Number(value)
  }
  return limits
}

const patienceVariables = [
  ['firstByteTimeoutMs', 'PHI_FIRST_BYTE_TIMEOUT_MS'],
  ['idleTimeoutMs', 'PHI_IDLE_TIMEOUT_MS'],
  ['progressTimeoutMs', 'PHI_PROGRESS_TIMEOUT_MS'],
] as const

function keyOf(variables: readonly string[], env: Environment): { apiKey?: string } {
  const apiKey = variables.map((variable) => env.get(variable)).find((value) => value !== undefined)
  return apiKey === undefined ? {} : { apiKey }
}

function missingKey(name: string, variables: readonly string[], env: Environment): ConfigError {
  return new ConfigError(
    'missingEnvVar',
    `No key is set for "${name}". ${adviceFor(variables.length === 0 ? ['its key'] : variables, env)}`,
  )
}

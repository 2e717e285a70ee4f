import { ConfigError } from '../../contract/errors.ts'
import type { ApiProtocol, KnownApi } from '../../contract/model/model-config.ts'
import { namesOf } from '../../contract/shape/shape.ts'
import type { ServerTools } from '../../providers/kit/optional/server-tools/server-tools.ts'
import type { ProviderOptions } from '../../providers/kit/provider-options.ts'
import { serviceAddresses } from '../../providers/kit/transport/endpoint.ts'
import { lateProviders, ownServices, protocolOf, serviceNamed, splitModelName } from '../../providers/model-name.ts'
import { backendAt, compatPresets as presets } from '../../providers/openai/backends.ts'
import type { Model } from '../../types/model/model.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import { isVariable, variableUses } from '../read/env.ts'
import type { ModelSection } from '../schema/model-sections.ts'

/** Model that a sub-agent selects instead of the section's model. */
export interface AskedModel {
  model: string
  /** The field's path. */
  path: Path
}

/** A section with a resolved provider and model id. */
export interface ServedSection {
  section: ModelSection
  /** `undefined` if `api` is not a known protocol. */
  protocol: ApiProtocol | undefined
}

const defaultService = 'anthropic'

/**
 * Resolves the provider of `section` by `api`, `provider` or `base_url`, or otherwise by the prefix of `model`, as in `openai/gpt-5.1`. A
 * sub-agent cannot select a different provider, because the section's key belongs to this provider. Throws `ConfigError` `invalidField`.
 */
export async function servedSection(section: ModelSection, asked: AskedModel | undefined, path: Path): Promise<ServedSection> {
  const { api, provider, base_url, model = '' } = section
  const id = asked?.model ?? model
  if (isGiven(api)) return { section: { ...section, model: id }, protocol: protocolOf(api.toLowerCase()) }
  if (isGiven(provider) || isGiven(base_url)) {
    const named = isGiven(provider) ? await serviceNamed(provider) : undefined
    return { section: { ...section, model: id }, protocol: named?.api ?? ownServices[defaultService].api }
  }
  const own = await nameAt(model, [...path, 'model'])
  const wished = asked === undefined ? own : await nameAt(asked.model, asked.path)
  const name = own?.service ?? (isGiven(model) ? defaultService : (wished?.service ?? defaultService))
  if (asked !== undefined && wished !== undefined && wished.service !== name) throw otherService(asked, wished.service, name, path)
  const { api: protocol = ownServices[defaultService].api, backend } = (await serviceNamed(name)) ?? {}
  return { section: { ...section, model: wished?.id ?? id, ...(backend !== undefined && { provider: backend }) }, protocol }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}

async function nameAt(model: string, path: Path): ReturnType<typeof splitModelName> {
  return splitModelName(model).catch((error: unknown) => {
    if (!ConfigError.isInstance(error)) throw error
    const advice = `If the id contains a slash, set api, provider or base_url.`
    throw fieldError('invalidField', path, `${fieldOf(path)} cannot be used: ${error.message} ${advice}`, error)
  })
}

function otherService({ path }: AskedModel, wished: string, own: string, section: Path): ConfigError {
  const advice = 'Add it to [[provider.instances]] with its own key, and refer to it as provider.'
  return fieldError('invalidField', path, `${fieldOf(path)} names a model of ${wished}, but ${fieldOf(section)} is for ${own}. ${advice}`)
}

/** Hosts by the environment variable of their key. */
const hostsOfKeys: ReadonlyMap<string, ReadonlySet<string>> = keyHosts()

function keyHosts(): Map<string, Set<string>> {
  const hosts = new Map<string, Set<string>>()
  const add = (variable: string, address: string | undefined): void => {
    const known = hosts.get(variable) ?? new Set<string>()
    hosts.set(variable, address === undefined ? known : known.add(new URL(address).hostname))
  }
  const addresses: Partial<Record<string, string>> = serviceAddresses
  for (const [name, { keys }] of Object.entries(ownServices)) for (const key of keys) add(key, addresses[name])
  for (const preset of Object.values(presets)) if ('apiKeyVariable' in preset) add(preset.apiKeyVariable, preset.baseUrl)
  return hosts
}

const knownHosts = new Set([...hostsOfKeys.values()].flatMap((hosts) => [...hosts]))

/**
 * Throws `ConfigError` `invalidField` if a variable in `raw`, the section before substitution, is the key of a different known provider
 * than the one at `baseUrl`. A URL variable such as `OPENAI_BASE_URL` may be used with `OPENAI_API_KEY`, because the user sets both.
 */
export function checkKeyHost({ api_key, headers, base_url = '' }: ModelSection, baseUrl: string, path: Path): void {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : ''
  if (!knownHosts.has(host)) return
  for (const { name, path: at } of variableUses({ api_key, headers })) {
    const hosts = hostsFor(name.trim().toUpperCase())
    if (hosts === undefined || hosts.has(host) || isPairedWith(base_url, name)) continue
    const field = [...path, ...at]
    const message = `${fieldOf(field)} uses \${${name}}, which is a key of another provider, but the model is called at ${host}. Use that provider's key, or set api or provider to match the key.`
    throw fieldError('invalidField', field, message)
  }
}

/** Returns whether URL and key are single variables with the same prefix. */
function isPairedWith(address: string, key: string): boolean {
  const [owner = ''] = key.trim().toUpperCase().split('_API_KEY')
  const [use] = isVariable(address.trim()) ? variableUses(address.trim()) : []
  return use?.name.trim().toUpperCase().startsWith(`${owner}_`) ?? false
}

/** `OPENAI_API_KEY_2` belongs to the same provider. */
function hostsFor(variable: string): ReadonlySet<string> | undefined {
  for (const [known, hosts] of hostsOfKeys) if (variable === known || variable.startsWith(`${known}_`)) return hosts
  return undefined
}

/** Options for all factories, including protocol-specific ones. */
export interface FactoryOptions extends ProviderOptions {
  resource?: string
  project?: string
  location?: string
  region?: string
  serverTools?: ServerTools
}

type Factory = (id: string, options: FactoryOptions) => Promise<Model>

/** Factories by protocol, loaded on use, because a file needs only one or two of the seven. */
export const factories: Record<KnownApi, Factory> = {
  anthropicMessages: async (id, options) => (await lateProviders.anthropic.load()).anthropic(id, options),
  openAiCompletions: async (id, options) => chatModel(id, options),
  openAiResponses: async (id, options) => (await lateProviders.responses.load()).openaiResponses(id, options),
  azureOpenAiResponses: async (id, options) => (await lateProviders.responses.load()).azure(id, options),
  googleGenerativeAi: async (id, options) => (await lateProviders.google.load()).google(id, options),
  googleVertex: async (id, options) => (await lateProviders.google.load()).vertex(id, options),
  bedrockConverseStream: async (id, options) => (await lateProviders.bedrock.load()).bedrock(id, options),
}

/** Creates a Chat Completions model for OpenAI, a preset (by name or URL), or any compatible server by URL. */
async function chatModel(id: string, options: FactoryOptions): Promise<Model> {
  const { openai, openaiCompatible } = await lateProviders.chat.load()
  const { provider, baseUrl } = options
  const named = namesOf(presets).find((name) => name === provider?.toLowerCase())
  const backend = named ?? backendAt(baseUrl)
  if (backend === undefined ? baseUrl === undefined : backend === 'openai') return openai(id, options)
  const { provider: _, ...others } = options
  return openaiCompatible(id, {
    ...others,
    ...(provider !== undefined && { provider }),
    ...(backend !== undefined && { backend: backend as keyof typeof presets }), // `backend` is always a key of the presets.
  })
}

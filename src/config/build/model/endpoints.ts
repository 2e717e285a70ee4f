import { fieldOf, type Path } from '../../config-error.ts'
import type { TrustRequest } from '../../config-host.ts'
import type { AgentConfig, ModelSection } from '../../config-types.ts'
import { isVariable, variablesIn } from '../../read/env.ts'
import { serversIn } from '../servers-in.ts'

/**
 * Hosts of the services that this package knows, name by name: what is put together of their parts may belong to anybody. A key that is meant for one
 * of them may go to another, but to no stranger.
 */
const knownHosts: ReadonlySet<string> = new Set([
  'api.anthropic.com',
  'api.cerebras.ai',
  'api.deepseek.com',
  'api.fireworks.ai',
  'api.groq.com',
  'api.individual.githubcopilot.com',
  'api.minimax.io',
  'api.mistral.ai',
  'api.moonshot.ai',
  'api.openai.com',
  'api.together.ai',
  'api.x.ai',
  'api.z.ai',
  'aiplatform.googleapis.com',
  'dashscope-intl.aliyuncs.com',
  'generativelanguage.googleapis.com',
  'openrouter.ai',
])

/** Those with a part of their own for each region or customer. */
const knownFamilies =
  /^([\w-]+\.openai\.azure\.com|[\w-]+-aiplatform\.googleapis\.com|aiplatform\.[\w-]+\.rep\.googleapis\.com|bedrock-runtime\.[\w-]+\.amazonaws\.com(\.cn)?)$/

const ownMachine = /^(localhost|127\.0\.0\.1|\[::1\])$/

/** Headers that say who pays, as keys do. */
const keyHeaders = /^(authorization|(x-)?api-key|x-goog-api-key)$/i

/** Where a file would send what is said and read, and what it takes from the environment, but for services that whoever runs it has chosen. */
export function endpointRequests(config: AgentConfig): TrustRequest[] {
  const models = modelsIn(config).flatMap(([section, path]) => modelRequests(config, section, path))
  const servers = serversIn(config).flatMap(([{ url, enabled }, path]): TrustRequest[] =>
    url !== undefined && enabled !== false && isForeign(url) ? [{ kind: 'endpoint', field: fieldOf([...path, 'url']), what: url }] : [],
  )
  return [...models, ...servers]
}

function modelsIn({ provider }: AgentConfig): [ModelSection, Path][] {
  if (provider === undefined) return []
  const { instances = [], ...base } = provider
  return [[base, ['provider']], ...instances.map((each, at): [ModelSection, Path] => [each, ['provider', 'instances', at]])]
}

function modelRequests(config: AgentConfig, section: ModelSection, path: Path): TrustRequest[] {
  const { base_url } = section
  if (base_url !== undefined && isForeign(base_url)) return [{ kind: 'endpoint', field: fieldOf([...path, 'base_url']), what: base_url }]
  const key = ownKeyOf(section)
  if (key === undefined || (base_url !== undefined && isOwnMachine(base_url)) || !saysVariables(config, section)) return []
  return [{ kind: 'endpoint', field: fieldOf([...path, ...key]), what: 'the account of the key in the file' }]
}

/** Where the file brings a key of its own: with it, a known service tells a stranger what was sent. */
function ownKeyOf({ api_key, headers = {} }: ModelSection): Path | undefined {
  if (api_key !== undefined && api_key.trim() !== '' && variablesIn(api_key).size === 0) return ['api_key']
  const header = Object.keys(headers).find((name) => keyHeaders.test(name) && variablesIn(headers[name]).size === 0)
  return header === undefined ? undefined : ['headers', header]
}

/** Whether anything of the environment is in what a model of `section` is sent, but for the keys of models. */
function saysVariables(
  { agent, system_prompt, sub_agents }: AgentConfig,
  { api_key: _key, base_url: _url, ...section }: ModelSection,
): boolean {
  return variablesIn({ agent, system_prompt, sub_agents, section }).size > 0
}

function isForeign(address: string): boolean {
  if (isVariable(address)) return false
  if (!URL.canParse(address)) return true
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return true
  if (ownMachine.test(hostname)) return false
  return protocol !== 'https:' || !(knownHosts.has(hostname) || knownFamilies.test(hostname))
}

function isOwnMachine(address: string): boolean {
  return isVariable(address) || (URL.canParse(address) && ownMachine.test(new URL(address).hostname))
}

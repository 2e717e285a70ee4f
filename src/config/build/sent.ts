import { isLoopbackHost } from '../../base/private-host.ts'
import { isSecretHeader } from '../../base/text/secrets.ts'
import { type JsonValue, ownFieldIn } from '../../contract/json.ts'
import { serviceAddresses } from '../../providers/kit/transport/endpoint.ts'
import { compatPresets } from '../../providers/openai/backends.ts'
import { fieldOf, type Path } from '../config-error.ts'
import type { TrustRequest } from '../config-host.ts'
import { isKeyVariable, isVariable, variablesIn, variableUses } from '../read/env.ts'
import { modelsIn, serversIn, textsOf, valuesIn } from '../schema/find.ts'
import type { Key } from '../schema/key-table.ts'
import type { ModelSection } from '../schema/model-sections.ts'
import type { AgentConfig } from '../schema/sections.ts'
import { filePathOf } from './build.ts'

/**
 * Exact hosts of known providers. Excludes subdomains, because third parties may control them. A key for one provider may be sent to
 * another known provider, but never to an unknown host.
 */
const knownHosts: ReadonlySet<string> = new Set(
  [...Object.values(serviceAddresses), ...Object.values(compatPresets).map(({ baseUrl }) => baseUrl)]
    .map((address) => new URL(address).hostname)
    .filter((host) => !isLoopbackHost(host)),
)

/** Known hosts with a subdomain per region or customer. */
const knownFamilies =
  /^([\w-]+\.openai\.azure\.com|[\w-]+-aiplatform\.googleapis\.com|aiplatform\.[\w-]+\.rep\.googleapis\.com|bedrock-runtime\.[\w-]+\.amazonaws\.com(\.cn)?)$/

/** Hosts whose names identify the customer account. */
const customersHost = /\.openai\.azure\.com$/
/** Paths that identify the customer account. */
const customersPath = /\/(accounts|projects)\//

/** Headers that contain no credentials. Any other header may contain a key. */
const harmlessHeaders = /^(accept|accept-language|anthropic-beta|anthropic-version|http-referer|openai-beta|referer|user-agent|x-title)$/i

/** The only query allowed for a known provider. Any other query may contain a key or select an account. */
const harmlessQuery = /^(\?api-version=[\w.-]*)?$/

/** Lists the hosts that would receive prompts, file contents and environment values, except providers that the user chose. */
export function endpointRequests(config: AgentConfig): TrustRequest[] {
  const models = modelsIn(config).flatMap(([section, path]) => modelRequests(config, section, path))
  const servers = serversIn(config).flatMap(([{ url, enabled }, path]): TrustRequest[] =>
    url !== undefined && enabled !== false && isForeign(url) ? [{ kind: 'endpoint', field: fieldOf([...path, 'url']), what: url }] : [],
  )
  return [...models, ...servers]
}

function modelRequests(config: AgentConfig, section: ModelSection, path: Path): TrustRequest[] {
  return [...accountRequests(config, section, path), ...serverToolRequests(section, path)]
}

/** Lists URLs that the provider would call for its hosted tools. They receive tool arguments. */
function serverToolRequests({ server_tools = [], body = {} }: ModelSection, path: Path): TrustRequest[] {
  // `body` may also declare tools.
  const addresses = addressesIn({ server_tools, body })
  return addresses.map(([name, what]): TrustRequest => ({ kind: 'endpoint', field: fieldOf([...path, ...name]), what }))
}

/** Returns every URL in `value` with its path. */
function addressesIn(value: JsonValue, path: Path = []): [Path, string][] {
  if (typeof value === 'string') return /^(https?|wss?):\/\//i.test(value.trim()) || isVariable(value) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => addressesIn(each, [...path, Array.isArray(value) ? Number(name) : name]))
}

/** A cache key is not a secret. */
const cacheKey = /cache.?key$/i

/**
 * Returns the paths of credentials for hosted tools, such as a mailbox token. The trust request for a URL covers a credential next to it.
 */
function connectedAs(value: JsonValue, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = Object.entries(value)
  const at = (name: string): Path => [...path, Array.isArray(value) ? Number(name) : name]
  const isAsked = !Array.isArray(value) && fields.some(([, each]) => typeof each === 'string' && addressesIn(each).length > 0)
  return fields.flatMap(([name, each]) => {
    if (typeof each !== 'string') return connectedAs(each, at(name))
    return !isAsked && isSecretHeader(name) && !cacheKey.test(name) && !isKeyVariable(each) ? [at(name)] : []
  })
}

function accountRequests(config: AgentConfig, section: ModelSection, path: Path): TrustRequest[] {
  const { base_url } = section
  if (base_url !== undefined && isForeign(base_url)) return [{ kind: 'endpoint', field: fieldOf([...path, 'base_url']), what: base_url }]
  const field = strangersAccount(section)
  if (field === undefined || (base_url !== undefined && isOwnMachine(base_url)) || !hasSomethingToTell(config, section)) return []
  return [{ kind: 'endpoint', field: fieldOf([...path, ...field]), what: 'the account of the key in the file' }]
}

/**
 * Returns the settings that select an account: a key that is not a single variable, or the host or project of a customer. Providers let
 * the account owner view the requests.
 */
function strangersAccount({
  api_key,
  headers = {},
  base_url,
  resource,
  project,
  server_tools = [],
  body = {},
}: ModelSection): Path | undefined {
  if (api_key !== undefined && api_key.trim() !== '' && !isVariable(api_key)) return ['api_key']
  const header = Object.entries(headers).find(([name, value]) => !harmlessHeaders.test(name) && !isKeyVariable(value))?.[0]
  if (header !== undefined) return ['headers', header]
  if (resource !== undefined && !isVariable(resource)) return ['resource']
  if (project !== undefined && !isVariable(project)) return ['project']
  const [tool] = connectedAs({ server_tools, body })
  if (tool !== undefined) return tool
  if (base_url === undefined || isVariable(base_url)) return undefined
  const { hostname, pathname } = new URL(base_url)
  return customersHost.test(hostname) || customersPath.test(pathname) ? ['base_url'] : undefined
}

/**
 * Returns whether requests may contain more than the user's prompts: environment values, workspace files, or tool results. `section` is
 * the section of the account.
 */
function hasSomethingToTell(
  config: AgentConfig,
  { api_key: _key, base_url: _address, resource: _account, project: _project, ...rest }: ModelSection,
): boolean {
  const { tools, choices, client_tools, sub_agents } = config
  const own = [...(tools?.enabled ?? []), ...(choices?.tools ?? []), ...(choices?.client_tools ?? [])]
  const usesTools = own.length > 0 || (sub_agents?.instances ?? []).some((each) => (each.tools ?? []).length > 0)
  return (
    usesTools ||
    (client_tools?.instances ?? []).length > 0 ||
    promptFiles(config).length > 0 ||
    (config.skills?.paths ?? []).length > 0 ||
    serversIn(config).some(([{ enabled }]) => enabled !== false) ||
    sentVariables(config).length > 0 ||
    variablesIn(rest).size > 0
  )
}

function isForeign(address: string): boolean {
  if (isVariable(address)) return false
  if (!URL.canParse(address)) return true
  const { protocol, hostname, username, password, search } = new URL(address)
  if (username !== '' || password !== '' || !harmlessQuery.test(search)) return true
  if (isThisMachine(hostname)) return false
  return protocol !== 'https:' || !(knownHosts.has(hostname) || knownFamilies.test(hostname))
}

/** Returns whether a host is this machine. Excludes subdomains of `localhost`, because a resolver may look them up. */
function isThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) && !/\.localhost\.?$/.test(hostname)
}

function isOwnMachine(address: string): boolean {
  return isVariable(address) || (URL.canParse(address) && isThisMachine(new URL(address).hostname))
}

/** Returns all files whose text becomes part of a prompt. */
export function promptFiles(config: AgentConfig): { file: string; path: Path }[] {
  return textsOf(config, 'prompt').flatMap(({ text, path }) => {
    const file = filePathOf(text)
    return file === undefined ? [] : [{ file, path }]
  })
}

/**
 * Lists settings that would send environment variables to a model: prompts, descriptions, headers. Excludes keys and URLs that are a
 * single variable, because the user set it. Excludes programs, because their trust requests show all variables.
 */
export function sentVariables(config: AgentConfig): TrustRequest[] {
  const programs = serversIn(config).flatMap(([{ command, enabled }, path]) =>
    command !== undefined || enabled === false ? [fieldOf(path)] : [],
  )
  const found = new Map<string, Set<string>>()
  for (const { key, value, path, isLocal } of valuesIn(config)) {
    if (key.inner !== undefined || isLocal) continue
    for (const use of variableUses(value)) {
      const field = fieldOf([...path, ...use.path])
      if (isChosen(key, value, use.path) || programs.some((program) => field.startsWith(`${program}.`))) continue
      found.set(field, (found.get(field) ?? new Set()).add(use.name))
    }
  }
  return [...found].map(([field, names]) => ({ kind: 'variable', field, what: [...names].map((name) => `\${${name}}`).join(', ') }))
}

/** Returns whether the value at `path` is a key or provider setting that consists of a single variable. */
function isChosen({ role }: Key, value: unknown, path: Path): boolean {
  const text = String(path.reduce<unknown>(ownFieldIn, value))
  return role === 'headers' ? /auth|key|token/i.test(String(path[0])) && isKeyVariable(text) : role === 'choice' && isVariable(text)
}

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
 * Hosts of the services that this package knows, name by name: what is put together of their parts may belong to anybody. A key that is meant for one
 * of them may go to another, but to no stranger.
 */
const knownHosts: ReadonlySet<string> = new Set(
  [...Object.values(serviceAddresses), ...Object.values(compatPresets).map(({ baseUrl }) => baseUrl)]
    .map((address) => new URL(address).hostname)
    .filter((host) => !isLoopbackHost(host)),
)

/** Those with a part of their own for each region or customer. */
const knownFamilies =
  /^([\w-]+\.openai\.azure\.com|[\w-]+-aiplatform\.googleapis\.com|aiplatform\.[\w-]+\.rep\.googleapis\.com|bedrock-runtime\.[\w-]+\.amazonaws\.com(\.cn)?)$/

/** Of which the name alone says whose account it is. */
const customersHost = /\.openai\.azure\.com$/
/** The same of a path. */
const customersPath = /\/(accounts|projects)\//

/** Headers that say nothing of who pays. Any other may be a key, whatever it is called. */
const harmlessHeaders = /^(accept|accept-language|anthropic-beta|anthropic-version|http-referer|openai-beta|referer|user-agent|x-title)$/i

/** The one thing that an address of a known service may ask for: anything else may be a key, or say whose account it is. */
const harmlessQuery = /^(\?api-version=[\w.-]*)?$/

/** Where a file would send what is said and read, and what it takes from the environment, but for services that whoever runs it has chosen. */
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

/** Servers that the service of a model is to call: they are told what the model asks of them. */
function serverToolRequests({ server_tools = [], body = {} }: ModelSection, path: Path): TrustRequest[] {
  // A body may declare tools as well.
  const addresses = addressesIn({ server_tools, body })
  return addresses.map(([name, what]): TrustRequest => ({ kind: 'endpoint', field: fieldOf([...path, ...name]), what }))
}

/** Every text in `value` that is an address, and where it stands. */
function addressesIn(value: JsonValue, path: Path = []): [Path, string][] {
  if (typeof value === 'string') return /^(https?|wss?):\/\//i.test(value.trim()) || isVariable(value) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => addressesIn(each, [...path, Array.isArray(value) ? Number(name) : name]))
}

/** A key that is no secret, but a name under which services keep what was said. */
const cacheKey = /cache.?key$/i

/** Where in `value` a key stands that a tool of the service connects with, such as that of a mailbox. One beside an address is asked about by that. */
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
 * What in the file says whose account is used: a key that is not one variable and nothing else, or the host or project of a customer. A known
 * service tells whoever has the account what was sent.
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

/** Whether anything but what a person types can be sent: what comes from the environment or a file of the workspace, or what tools read. `section` is that of the account. */
function hasSomethingToTell(
  config: AgentConfig,
  { api_key: _key, base_url: _address, resource: _account, project: _project, ...beside }: ModelSection,
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
    variablesIn(beside).size > 0
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

/** A name within `localhost` is asked about: a resolver may look it up on the net. */
function isThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) && !/\.localhost\.?$/.test(hostname)
}

function isOwnMachine(address: string): boolean {
  return isVariable(address) || (URL.canParse(address) && isThisMachine(new URL(address).hostname))
}

/** Every file whose text becomes a part of a prompt. */
export function promptFiles(config: AgentConfig): { file: string; path: Path }[] {
  return textsOf(config, 'prompt').flatMap(({ text, path }) => {
    const file = filePathOf(text)
    return file === undefined ? [] : [{ file, path }]
  })
}

/**
 * Every place where a file would send what it takes from the environment, with its variables: prompts, descriptions, headers. Not the keys and the
 * addresses that are one variable alone, which whoever set them chose, and not programs, which are asked about with all they are given.
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

/** Whether the variable at `path` of `value` is a key or a choice of the service, and stands there alone. */
function isChosen({ role }: Key, value: unknown, path: Path): boolean {
  const text = String(path.reduce<unknown>(ownFieldIn, value))
  return role === 'headers' ? /auth|key|token/i.test(String(path[0])) && isKeyVariable(text) : role === 'choice' && isVariable(text)
}

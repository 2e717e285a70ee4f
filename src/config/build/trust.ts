import type { ConfigError } from '../../contract/errors.ts'
import { fieldError, fieldOf, type Path, stepsOf } from '../config-error.ts'
import type { ConfigHost, TrustRequest } from '../config-host.ts'
import { variablesIn } from '../read/env.ts'
import { checkedConfig, serversIn } from '../schema/check.ts'
import type { AgentConfig, McpServerSection } from '../schema/sections.ts'
import { isOutside } from './build.ts'
import { scriptsOf } from './hooks.ts'
import { endpointRequests } from './model/endpoints.ts'
import { profilesIn, promptFiles } from './prompt-files.ts'
import { sentVariables } from './sent-variables.ts'
import { mediaRequests } from './settings.ts'

/**
 * Everything that `config` needs trust for, the most dangerous first: a host that asks a person once shows this list, whole.
 *
 * **Contract**: pure. Nothing is cut and nothing masked: what is shown is what is agreed to. A path or an address that contains a variable counts as leading
 * anywhere, but for an address that is one variable alone: the person who set it chose it. Show texts with `escapeInvisible`. Throws `ConfigError`
 * `invalidField` for a configuration that is none, and `unsupported` for callbacks that are no scripts.
 *
 * Source: docs/concepts/configuration.md
 */
export function trustRequests(config: AgentConfig): TrustRequest[] {
  const { config: checked } = checkedConfig(config)
  // Nobody is asked about what cannot be.
  scriptsOf(checked)
  const others = [
    ...programRequests(checked),
    ...endpointRequests(checked),
    ...mediaRequests(checked),
    ...workspaceRequests(checked),
    ...fileRequests(checked),
  ]
  // What is asked about whole is not asked about by its variables again.
  const fields = new Set(others.map(({ field, what }) => (variablesIn(what).size > 0 ? field : undefined)))
  return [...others, ...sentVariables(checked).filter(({ field }) => !fields.has(field))]
}

/** Rejects with `ConfigError` `untrusted` for the first thing that `host` does not trust `config` with. */
export async function askForTrust(config: AgentConfig, { trust = false }: ConfigHost): Promise<void> {
  if (trust === true) return
  const requests = trustRequests(config)
  for (const request of requests) {
    if (trust !== false && (await trust(request)) === true) continue
    throw untrusted(request, trust === false ? requests.length - 1 : 0)
  }
}

const whatFor: Record<TrustRequest['kind'], string> = {
  script: 'run a script',
  server: 'start a program',
  plugin: 'run the code of a plugin in this program',
  file: 'read a file outside of the workspace',
  workspace: 'work outside of the directory it was given',
  media: 'fetch pictures and files from there, which may be in a private network,',
  variable: 'send what stands in the environment',
  endpoint: 'send what is said and read, and what it takes from the environment, to an address that is no known service',
}

function untrusted({ kind, field, what }: TrustRequest, others: number): ConfigError {
  const more = others === 0 ? '' : ` It wants ${others} more such ${others === 1 ? 'thing' : 'things'}: trustRequests(config) lists them.`
  const message = `${field} would ${whatFor[kind]}: ${JSON.stringify(what.slice(0, 200))}. If you trust the file, say so with trust.${more}`
  return fieldError('untrusted', stepsOf(field), message)
}

function workspaceRequests({ default_workspace, agent }: AgentConfig): TrustRequest[] {
  const found: TrustRequest[] = []
  const look = (path: string | undefined, ...at: Path): void => {
    if (path !== undefined && isOutside(path)) found.push({ kind: 'workspace', field: fieldOf(at), what: path })
  }
  look(default_workspace, 'default_workspace')
  look(agent?.workspace, 'agent', 'workspace')
  for (const [profile, path] of profilesIn(agent)) look(profile.workspace, ...path, 'workspace')
  for (const [at, { workspace }] of (agent?.instances ?? []).entries()) look(workspace, 'agent', 'instances', at, 'workspace')
  return found
}

function fileRequests(config: AgentConfig): TrustRequest[] {
  return promptFiles(config)
    .filter(({ what }) => isOutside(what))
    .map(({ field, what }) => ({ kind: 'file', field, what }))
}

function programRequests(config: AgentConfig): TrustRequest[] {
  const servers = serversIn(config).flatMap(([server, path]): TrustRequest[] =>
    server.command === undefined || server.enabled === false
      ? []
      : [{ kind: 'server', field: fieldOf([...path, 'command']), what: commandLine(server) }],
  )
  const scripts = Object.entries(config.callbacks ?? {}).map(
    ([name, what]): TrustRequest => ({
      kind: 'script',
      field: fieldOf(['callbacks', name]),
      what: String(what),
    }),
  )
  const plugins = (config.agent?.plugins ?? []).map(
    (what, at): TrustRequest => ({ kind: 'plugin', field: fieldOf(['agent', 'plugins', at]), what }),
  )
  return [...plugins, ...servers, ...scripts]
}

/** Variables decide what a program does as much as arguments do: they stand before it, all of them, by their names and with their values. */
function commandLine({ command = '', args = [], env = {} }: McpServerSection): string {
  const variables = Object.entries(env).map(([name, value]) => `${quoted(name)}=${quoted(value)}`)
  return [...variables, ...[command, ...args].map(quoted)].join(' ')
}

/** So that one argument does not look like two, or like none. */
function quoted(word: string): string {
  return /^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word)
}

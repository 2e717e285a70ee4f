import type { ConfigError } from '../../contract/errors.ts'
import { fieldError, fieldOf, stepsOf } from '../config-error.ts'
import type { ConfigHost, TrustRequest } from '../config-host.ts'
import { variablesIn } from '../read/env.ts'
import { checkedConfig } from '../schema/check.ts'
import { serversIn, textsOf } from '../schema/find.ts'
import type { AgentConfig, McpServerSection } from '../schema/sections.ts'
import { isOutside } from './build.ts'
import { scriptsOf } from './hooks.ts'
import { endpointRequests, promptFiles, sentVariables } from './sent.ts'

/**
 * Lists everything in `config` that requires trust, most dangerous first. Show the user the complete list.
 *
 * **Contract**
 * - Pure. Nothing is shortened or masked, because the user approves exactly what is shown. Escape texts with `escapeInvisible`.
 * - A path or URL with a variable counts as unrestricted, except a URL that consists of a single variable, because the user set it.
 * - Throws `ConfigError` `invalidField` for an invalid configuration, and `unsupported` for callbacks that are not scripts.
 *
 * Source: docs/reference/configuration.md
 */
export function trustRequests(config: AgentConfig): TrustRequest[] {
  const { config: checked } = checkedConfig(config)
  // Fail early for callbacks that cannot work.
  scriptsOf(checked)
  const others = [
    ...requestsOf(checked, 'plugin'),
    ...serverRequests(checked),
    ...requestsOf(checked, 'script'),
    ...endpointRequests(checked),
    // A host name may resolve to the user's private network.
    ...requestsOf(checked, 'media'),
    ...requestsOf(checked, 'workspace').filter(({ what }) => isOutside(what)),
    ...promptFiles(checked).flatMap(({ file, path }): TrustRequest[] =>
      isOutside(file) ? [{ kind: 'file', field: fieldOf(path), what: file }] : [],
    ),
  ]
  // Text that is shown completely needs no second request for its variables.
  const fields = new Set(others.map(({ field, what }) => (variablesIn(what).size > 0 ? field : undefined)))
  return [...others, ...sentVariables(checked).filter(({ field }) => !fields.has(field))]
}

/** Rejects with `ConfigError` `untrusted` for the first request that `host` refuses. */
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
  plugin: 'run plugin code in this process',
  file: 'read a file outside the workspace',
  workspace: 'use a directory outside the given one',
  media: 'fetch images and files from hosts that may be in a private network',
  variable: 'send environment variables',
  endpoint: 'send the conversation and environment variables to an unknown host',
}

function untrusted({ kind, field, what }: TrustRequest, others: number): ConfigError {
  const more =
    others === 0 ? '' : ` There ${others === 1 ? 'is 1 more request' : `are ${others} more requests`}: see trustRequests(config).`
  const message = `${field} would ${whatFor[kind]}: ${JSON.stringify(what.slice(0, 200))}. If you trust the file, pass trust.${more}`
  return fieldError('untrusted', stepsOf(field), message)
}

/** Returns a request for each value at keys of this role. */
function requestsOf(config: AgentConfig, kind: 'script' | 'plugin' | 'media' | 'workspace'): TrustRequest[] {
  return textsOf(config, kind).map(({ text: what, path }) => ({ kind, field: fieldOf(path), what }))
}

function serverRequests(config: AgentConfig): TrustRequest[] {
  return serversIn(config).flatMap(([server, path]): TrustRequest[] => {
    if (server.command === undefined || server.enabled === false) return []
    return [{ kind: 'server', field: fieldOf([...path, 'command']), what: commandLine(server) }]
  })
}

/** Formats a server command with all its variables first, because variables can change a program's behavior as much as arguments. */
function commandLine({ command = '', args = [], env = {} }: McpServerSection): string {
  const variables = Object.entries(env).map(([name, value]) => `${quoted(name)}=${quoted(value)}`)
  return [...variables, ...[command, ...args].map(quoted)].join(' ')
}

/** Quotes a word so that the argument boundaries are visible. */
function quoted(word: string): string {
  return /^[^\s"'\\]+$/.test(word) ? word : JSON.stringify(word)
}

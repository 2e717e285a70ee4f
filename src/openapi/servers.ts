import { isPrivateHost } from '../base/private-host.ts'
import { ConfigError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { entriesField, field, listField, type OpenApiDocument, textField } from './document.ts'
import { OpenApiError, type OpenApiToolsOptions } from './options.ts'

/**
 * Returns the base URL of an operation without a trailing slash: `baseUrl`, otherwise the operation's first server, the path or the
 * document.
 *
 * - Throws `OpenApiError` `noServer` if there is no usable server.
 * - Throws `ConfigError` for an invalid `baseUrl` or variable.
 */
export function baseUrlOf(api: OpenApiDocument, levels: readonly unknown[], options: OpenApiToolsOptions): string {
  const { baseUrl } = options
  if (baseUrl !== undefined) {
    const fault = urlFault(baseUrl)
    if (fault !== undefined) throw new ConfigError('invalidOption', `baseUrl ${fault}.`)
    return trimmed(new URL(baseUrl))
  }
  const server = [...levels, api.root].map((level) => listField(level, 'servers')[0]).find((found) => found !== undefined)
  // A document without servers uses the host that serves it.
  const written = server === undefined && api.url !== undefined ? '/' : textField(server, 'url')
  if (written === undefined) throw noServer('The document lists no server')
  const filled = withVariables(written, server, options.serverVariables ?? {})
  const url = URL.parse(filled, api.url)
  if (url === null) throw noServer(`The server ${JSON.stringify(filled)} is not an absolute URL`)
  const fault = urlFault(url.href)
  if (fault !== undefined) throw noServer(`The server ${fault}`)
  if (api.url !== undefined && isPrivateHost(url.hostname) && !isPrivateHost(api.url.hostname)) {
    throw noServer(`A document from ${api.url.host} lists ${url.host}, a host in your private network, as its server`)
  }
  return trimmed(url)
}

function noServer(what: string): OpenApiError {
  return new OpenApiError('noServer', `${what}: pass baseUrl, the URL to call.`)
}

function trimmed(url: URL): string {
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Returns what is wrong with a server URL. Hides the URL if it may contain a password. */
function urlFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return `is ${JSON.stringify(text.slice(0, 60))}; it must be an absolute http or https URL`
  if (url.username !== '' || url.password !== '') return 'contains credentials; use bearer, apiKey or credentials'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `uses ${url.protocol}, which is not supported; use http or https`
  return url.search === '' ? undefined : 'has a query, to which no path can be appended; remove it'
}

function withVariables(url: string, server: unknown, given: Readonly<Record<string, string>>): string {
  const variables = new Map(entriesField(server, 'variables'))
  return url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = variables.get(name)
    const allowed = listField(variable, 'enum').map(String)
    const value = ownOf(given, name)
    if (value !== undefined && allowed.length > 0 && !allowed.includes(value)) {
      throw new ConfigError(
        'invalidOption',
        `serverVariables.${name} is ${JSON.stringify(value)}; it must be one of ${allowed.join(', ')}.`,
      )
    }
    const used = value ?? field(variable, 'default')
    if (typeof used !== 'string' && typeof used !== 'number') {
      throw noServer(`The server ${JSON.stringify(url)} has no value for {${name}}: set it in serverVariables, or`)
    }
    return String(used)
  })
}

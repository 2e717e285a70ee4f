import { isPrivateHost } from '../base/private-host.ts'
import { ConfigError } from '../contract/errors.ts'
import { ownOf } from '../contract/json.ts'
import { entriesField, field, listField, type OpenApiDocument, textField } from './document.ts'
import { OpenApiError, type OpenApiToolsOptions } from './options.ts'

/**
 * Where an operation is called, without a slash at the end: `baseUrl`, else the first server of the operation, of its path or of the document.
 * Throws `OpenApiError` `noServer` where there is none that can be called, `ConfigError` for a `baseUrl` or a variable that cannot be used.
 */
export function baseUrlOf(api: OpenApiDocument, levels: readonly unknown[], options: OpenApiToolsOptions): string {
  const { baseUrl } = options
  if (baseUrl !== undefined) {
    const fault = urlFault(baseUrl)
    if (fault !== undefined) throw new ConfigError('invalidOption', `baseUrl ${fault}.`)
    return trimmed(new URL(baseUrl))
  }
  const server = [...levels, api.root].map((level) => listField(level, 'servers')[0]).find((found) => found !== undefined)
  // A document without servers is served by whoever serves the document.
  const written = server === undefined && api.url !== undefined ? '/' : textField(server, 'url')
  if (written === undefined) throw noServer('The document names no server')
  const filled = withVariables(written, server, options.serverVariables ?? {})
  const url = URL.parse(filled, api.url)
  if (url === null) throw noServer(`The server ${JSON.stringify(filled)} is no absolute address`)
  const fault = urlFault(url.href)
  if (fault !== undefined) throw noServer(`The server ${fault}`)
  if (api.url !== undefined && isPrivateHost(url.hostname) && !isPrivateHost(api.url.hostname)) {
    throw noServer(`A document from ${api.url.host} names ${url.host}, an address of your own network, as its server`)
  }
  return trimmed(url)
}

function noServer(what: string): OpenApiError {
  return new OpenApiError('noServer', `${what}: pass baseUrl, the address to call.`)
}

function trimmed(url: URL): string {
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** What is wrong with an address to call. It is not shown where a password may stand in it. */
function urlFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return `is ${JSON.stringify(text.slice(0, 60))}; it must be an absolute http or https address`
  if (url.username !== '' || url.password !== '') return 'has a name or password in it; use bearer, apiKey or credentials'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `is of ${url.protocol}, which cannot be called; use http or https`
  return url.search === '' ? undefined : 'has a query, which no path can follow; leave it out'
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
      throw noServer(`The server ${JSON.stringify(url)} has no value for {${name}}: give it in serverVariables, or`)
    }
    return String(used)
  })
}

import { ConfigError } from '../types/errors.ts'
import { entriesField, field, listField, type OpenApiDocument, textField } from './document.ts'
import { OpenApiError } from './open-api-error.ts'
import type { OpenApiToolsOptions } from './options.ts'

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
  if (api.url !== undefined && isPrivate(url.hostname) && !isPrivate(api.url.hostname)) {
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
    const value = Object.hasOwn(given, name) ? given[name] : undefined
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

/** Addresses of this machine and of networks that the world does not reach. The parser of URLs has already written numbers as a.b.c.d. */
function isPrivate(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '').toLowerCase()
  if (host === 'localhost' || /\.(localhost|local|internal)$/.test(host)) return true
  if (host.startsWith('[')) return isPrivateIpv6(host.slice(1, -1))
  const parts = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(host)
  return parts !== null && isPrivateIpv4(Number(parts[1]), Number(parts[2]))
}

function isPrivateIpv4(first: number, second: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true
  if (first === 100) return second >= 64 && second < 128
  if (first === 169) return second === 254
  if (first === 172) return second >= 16 && second < 32
  return first === 192 && second === 168
}

function isPrivateIpv6(host: string): boolean {
  const mapped = /^::ffff:([0-9a-f]{1,4}):[0-9a-f]{1,4}$/.exec(host)?.[1]
  if (mapped !== undefined) {
    const head = Number.parseInt(mapped, 16)
    return isPrivateIpv4(head >> 8, head & 255)
  }
  return host === '::' || host === '::1' || /^f[cd]|^fe[89ab]/.test(host)
}

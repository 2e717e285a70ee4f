import { toBase64 } from '../../base/base64.ts'
import { percentEncoded } from '../../base/text/characters.ts'
import { isObject } from '../../contract/json.ts'
import { isHeaderName, isHeaderValue } from '../../contract/model/request-settings.ts'
import { dereference, field, listField, type OpenApiDocument, textField } from '../document.ts'
import { type OpenApiCredential, OpenApiError, type OpenApiSecret, type OpenApiToolsOptions } from '../options.ts'
import type { SentByCaller } from './parameters.ts'

/** A credential and its place in the request. */
export interface Authorization {
  readonly place: 'header' | 'query' | 'cookie'
  readonly name: string
  /** Prefix of the secret, such as `Bearer `. */
  readonly prefix: string
  readonly isBasic: boolean
  readonly credential: OpenApiCredential
}

/** Credentials to add to a call, and secrets to redact. */
export interface Authorized {
  headers: [string, string][]
  query: string[]
  secrets: string[]
}

/**
 * Selects the credentials for an operation: always `bearer` and `apiKey`, then the first security requirement for which `credentials` is
 * complete. Skips requirements without credentials. The service then reports the missing credential.
 */
export function authorizationsOf(api: OpenApiDocument, node: unknown, options: OpenApiToolsOptions): Authorization[] {
  const { bearer, apiKey, credentials = {} } = options
  const found: Authorization[] = []
  if (bearer !== undefined) found.push(header('authorization', bearer, 'Bearer '))
  if (apiKey !== undefined) found.push(header(apiKey.header, apiKey.value, ''))
  const schemes = field(field(api.root, 'components'), 'securitySchemes')
  const asked = Array.isArray(field(node, 'security')) ? listField(node, 'security') : listField(api.root, 'security')
  const sets = asked.map((set) => (isObject(set) ? Object.keys(set) : []))
  const chosen = sets.find((names) => names.length > 0 && names.every((name) => Object.hasOwn(credentials, name))) ?? []
  for (const name of chosen) {
    const scheme = dereference(api, field(schemes, name))
    const credential = credentials[name]
    const authorization = credential === undefined ? undefined : authorizationOf(scheme, credential)
    if (authorization !== undefined) found.push(authorization)
  }
  return found
}

function header(name: string, credential: OpenApiCredential, prefix: string, isBasic = false): Authorization {
  return { place: 'header', name, prefix, credential, isBasic }
}

function authorizationOf(scheme: unknown, credential: OpenApiCredential): Authorization | undefined {
  const type = field(scheme, 'type')
  if (type === 'oauth2' || type === 'openIdConnect') return header('authorization', credential, 'Bearer ')
  if (type === 'http') {
    const name = textField(scheme, 'scheme') ?? 'bearer'
    if (/^basic$/i.test(name)) return header('authorization', credential, 'Basic ', true)
    return isHeaderName(name) ? header('authorization', credential, /^bearer$/i.test(name) ? 'Bearer ' : `${name} `) : undefined
  }
  const [name, place] = [textField(scheme, 'name'), field(scheme, 'in')]
  if (type !== 'apiKey' || name === undefined) return undefined
  if (place === 'query') return { place, name, prefix: '', credential, isBasic: false }
  if (!isHeaderName(name)) return undefined
  if (place === 'header') return header(name, credential, '')
  return place === 'cookie' ? { place, name, prefix: '', credential, isBasic: false } : undefined
}

/** Returns the names that arguments cannot set, because the caller sets them. */
export function sentByCaller(authorizations: readonly Authorization[], headers: Readonly<Record<string, string>> = {}): SentByCaller {
  const names = (place: Authorization['place']) => authorizations.filter((each) => each.place === place).map(({ name }) => name)
  return {
    headers: new Set([...names('header'), ...Object.keys(headers)].map((name) => name.toLowerCase())),
    query: new Set(names('query')),
  }
}

/** Reads the secrets for one call. Errors of the caller's functions pass through unchanged. */
export async function authorize(authorizations: readonly Authorization[], signal: AbortSignal): Promise<Authorized> {
  const result: Authorized = { headers: [], query: [], secrets: [] }
  const cookies: string[] = []
  for (const { place, name, prefix, isBasic, credential } of authorizations) {
    const secret = await secretOf(credential, isBasic, signal)
    const written = isBasic ? toBase64(new TextEncoder().encode(secret)) : secret
    const inUrl = percentEncoded(secret)
    result.secrets.push(secret, written, inUrl)
    if (isBasic) result.secrets.push(secret.slice(secret.indexOf(':') + 1))
    if (place === 'query') result.query.push(`${percentEncoded(name)}=${inUrl}`)
    else if (place === 'cookie') cookies.push(`${name}=${inUrl}`)
    else if (isHeaderValue(written)) result.headers.push([name, prefix + written])
    else throw new OpenApiError('invalidDocument', `Cannot send the credential for header ${name}: it must be one line of Latin-1 text.`)
  }
  if (cookies.length > 0) result.headers.push(['cookie', cookies.join('; ')])
  return result
}

async function secretOf(credential: OpenApiCredential, isBasic: boolean, signal: AbortSignal): Promise<string> {
  if (typeof credential === 'object') return isBasic ? `${credential.username}:${credential.password}` : credential.password
  return typeof credential === 'function' ? await textFrom(credential, signal) : credential
}

async function textFrom(credential: Exclude<OpenApiSecret, string>, signal: AbortSignal): Promise<string> {
  const secret: unknown = await credential(signal)
  if (typeof secret !== 'string') throw new TypeError('A credential function did not return a string.')
  return secret
}

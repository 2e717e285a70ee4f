import { isSecretHeader } from '../../../base/text/secrets.ts'
import { ProviderError } from '../../../contract/errors.ts'

/** Where the services are whose address is always the same: of the factories, of the proxy, and what agent files may name without being asked about. */
export const serviceAddresses = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com',
  vertex: 'https://aiplatform.googleapis.com',
} as const

/** True for `https://host` and `https://host/`: no path was configured. */
export function isBareHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).pathname === '/'
}

/**
 * The URL of an endpoint: `path` appended to `baseUrl`. Trailing slashes do not matter, a version that ends the base is not repeated
 * (`https://h/v1` + `/v1/messages`), and a query of the base is kept. Throws `ProviderError` `other` for a base that is no URL.
 */
export function joinUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl)) {
    // Its query may hold a key.
    throw new ProviderError(
      'other',
      `baseUrl "${baseUrl.split('?', 1)[0]}" is not a URL. Give an absolute one, such as https://api.example.com.`,
    )
  }
  const queryStart = baseUrl.indexOf('?')
  const query = queryStart < 0 ? '' : baseUrl.slice(queryStart)
  let base = queryStart < 0 ? baseUrl : baseUrl.slice(0, queryStart)
  while (base.endsWith('/')) base = base.slice(0, -1)
  const version = /^\/v\d\w*/.exec(path)?.[0] ?? ''
  return base + (base.endsWith(version) ? path.slice(version.length) : path) + query
}

/** `own` with `extra` on top; names are compared without case and written in lower case. */
export function mergeHeaders(own: Record<string, string>, extra: Record<string, string>): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) merged[name.toLowerCase()] = value
  for (const [name, value] of Object.entries(extra)) merged[name.toLowerCase()] = value
  return merged
}

/** A copy of `headers` for logs: every value that may be a secret is replaced. */
export function redactedHeaders(headers: Record<string, string>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) shown[name] = isSecretHeader(name) ? '[redacted]' : value
  return shown
}

/** A key that may stand in a header: visible characters, and one at least. */
export const headerKey = /^[\x21-\x7e]+$/

/**
 * `credential` as a header value. Throws `ProviderError` `other` where a key cannot be one: engines would print it in their own error.
 */
export function headerCredential(service: string, credential: string): string {
  const key = credential.trim()
  if (!headerKey.test(key)) {
    throw new ProviderError(
      'other',
      `The ${service} API key contains characters no header may carry, or is empty. Check where it is read from.`,
    )
  }
  return key
}

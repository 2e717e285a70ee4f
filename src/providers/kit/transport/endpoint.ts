import { isSecretHeader } from '../../../base/text/secrets.ts'
import { ProviderError } from '../../../contract/errors.ts'

/** Fixed base URLs of providers, for factories and the proxy. Agent files can use them without a trust request. */
export const serviceAddresses = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com',
  vertex: 'https://aiplatform.googleapis.com',
} as const

/** Matches `https://host` and `https://host/`, without a path. */
export function isBareHost(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).pathname === '/'
}

/**
 * Returns the URL of an endpoint: `path` appended to `baseUrl`. Ignores trailing slashes, does not repeat a version at the end of the base
 * (`https://h/v1` + `/v1/messages`), and keeps the base URL's query. Throws `ProviderError` `other` for an invalid base URL.
 */
export function joinUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl)) {
    // The query may contain a key.
    throw new ProviderError(
      'other',
      `baseUrl "${baseUrl.split('?', 1)[0]}" is not a URL. Pass an absolute one, such as https://api.example.com.`,
    )
  }
  const queryStart = baseUrl.indexOf('?')
  const query = queryStart < 0 ? '' : baseUrl.slice(queryStart)
  let base = queryStart < 0 ? baseUrl : baseUrl.slice(0, queryStart)
  while (base.endsWith('/')) base = base.slice(0, -1)
  const version = /^\/v\d\w*/.exec(path)?.[0] ?? ''
  return base + (base.endsWith(version) ? path.slice(version.length) : path) + query
}

/** Returns `own` overridden by `extra`. Names are case-insensitive and converted to lower case. */
export function mergeHeaders(own: Record<string, string>, extra: Record<string, string>): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) merged[name.toLowerCase()] = value
  for (const [name, value] of Object.entries(extra)) merged[name.toLowerCase()] = value
  return merged
}

/** Returns a copy of `headers` for logs, with redacted secrets. */
export function redactedHeaders(headers: Record<string, string>): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) shown[name] = isSecretHeader(name) ? '[redacted]' : value
  return shown
}

/** Matches a key that is valid in a header: one or more visible characters. */
export const headerKey = /^[\x21-\x7e]+$/

/**
 * Returns `credential` as a header value. Throws `ProviderError` `other` for an invalid key, because engines would print it in their error.
 */
export function headerCredential(service: string, credential: string): string {
  const key = credential.trim()
  if (!headerKey.test(key)) {
    throw new ProviderError(
      'other',
      `The ${service} API key is empty or contains characters that are invalid in a header. Check its source.`,
    )
  }
  return key
}

import { percentDecoded } from './characters.ts'

/** Matches names of headers with credentials. */
const secretHeader = /auth|key|token|secret|cookie|credential|password|signature/i

/** Returns whether a header with this name contains a secret. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name)
}

/** Returns the secret parts of a header value: the whole value, and the token after a scheme. */
export function headerSecrets(value: string): string[] {
  return [value, value.replace(/^\s*\S+\s+(?=\S)/, '')]
}

/** Minimum length of a secret. Shorter secrets would match ordinary text. */
const minSecret = 4

/** Replaces every secret of at least four characters in `text`, plain or JSON-escaped, with `****`. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = [...new Set(secrets.flatMap(spellings))].filter((secret) => secret.length >= minSecret)
  // Replace longer secrets first, so that no part of a secret remains.
  return known.toSorted((a, b) => b.length - a.length).reduce((shown, secret) => shown.replaceAll(secret, '****'), text)
}

/** Returns the forms of a secret: plain, as in headers, and JSON-escaped. */
function spellings(secret: string): string[] {
  const bare = secret.trim()
  return [secret, bare, JSON.stringify(bare).slice(1, -1)]
}

/** URL parameters that the codecs set, which are not secret. */
const knownParameters = new Set(['alt', 'api-version'])

/** Returns whether the value of a URL parameter may be a secret: `true` for all except the codecs' parameters. */
function isSecretParameter(name: string): boolean {
  return !knownParameters.has(name)
}

/** Returns the URL without possible secrets: user info, fragment and parameter values. Unchanged if it contains none. */
export function withoutUrlSecrets(address: string): string {
  if (!URL.canParse(address)) return cutGenerously(address)
  const url = new URL(address)
  const names = [...url.searchParams.keys()].filter(isSecretParameter)
  if (url.username + url.password + url.hash === '' && names.length === 0) return address
  url.username = url.password = url.hash = ''
  for (const name of names) url.searchParams.set(name, 'redacted')
  return url.href
}

/** Returns a URL without user info, query and fragment, which may contain keys. */
export function bareUrl(url: string): string {
  if (!URL.canParse(url)) return cutGenerously(url)
  const parsed = new URL(url)
  return `${parsed.origin}${parsed.pathname}`.replace(/\/$/, '')
}

/** Removes possible secrets from a text that is not a valid URL, such as a relative URL, or a URL with an invalid password. */
function cutGenerously(url: string): string {
  return url.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '')
}

/**
 * Returns the secrets in a request to `url` with `headers`: values of credential headers, user info and URL parameters. Includes headers
 * and parameters that the caller set.
 */
export function secretsIn(url: string, headers: Record<string, string>): string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    // Match a scheme and a token, or only a token. Do not match signatures, whose parts include non-secret names.
    const token = isSecretHeader(name) ? /^\s*(?:[a-z]+\s+)?(\S+)\s*$/i.exec(value)?.[1] : undefined
    if (token === undefined) continue
    secrets.push(token)
    const password = /^\s*basic\s/i.test(value) ? passwordOf(token) : undefined
    if (password !== undefined) secrets.push(password)
  }
  if (!URL.canParse(url)) return secrets
  const { username, password, searchParams } = new URL(url)
  secrets.push(percentDecoded(username), percentDecoded(password))
  for (const [name, value] of searchParams) if (isSecretParameter(name)) secrets.push(value)
  return secrets
}

function passwordOf(basic: string): string | undefined {
  try {
    return atob(basic).split(':').slice(1).join(':')
  } catch {
    return undefined
  }
}

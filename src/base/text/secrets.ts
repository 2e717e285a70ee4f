import { percentDecoded } from './characters.ts'

/** Names of headers whose value says who asks. */
const secretHeader = /auth|key|token|secret|cookie|credential|password|signature/i

/** Whether the value of a header is a secret, judged by the header's name. */
export function isSecretHeader(name: string): boolean {
  return secretHeader.test(name)
}

/** What of a header's value must not be shown: the whole, and the token behind a scheme. */
export function headerSecrets(value: string): string[] {
  return [value, value.replace(/^\s*\S+\s+(?=\S)/, '')]
}

/** Shorter ones would be found in anything. */
const minSecret = 4

/** `text` with `****` for every secret in it that has four characters or more, as it is and as JSON writes it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const known = [...new Set(secrets.flatMap(spellings))].filter((secret) => secret.length >= minSecret)
  // One that contains another goes first, or part of it would be left.
  return known.toSorted((a, b) => b.length - a.length).reduce((shown, secret) => shown.replaceAll(secret, '****'), text)
}

/** A secret as it is, as headers carry it, and as JSON writes it. */
function spellings(secret: string): string[] {
  const bare = secret.trim()
  return [secret, bare, JSON.stringify(bare).slice(1, -1)]
}

/** Parameters that our codecs add: they say nothing secret. */
const knownParameters = new Set(['alt', 'api-version'])

/** Whether the value of a parameter may be a secret: of all that people put into an address, only what codecs add is not. */
function isSecretParameter(name: string): boolean {
  return !knownParameters.has(name)
}

/** The address without what it may hold of secrets: user info, fragment, the values of parameters. The same where there is none. */
export function withoutUrlSecrets(address: string): string {
  if (!URL.canParse(address)) return cutGenerously(address)
  const url = new URL(address)
  const names = [...url.searchParams.keys()].filter(isSecretParameter)
  if (url.username + url.password + url.hash === '' && names.length === 0) return address
  url.username = url.password = url.hash = ''
  for (const name of names) url.searchParams.set(name, 'redacted')
  return url.href
}

/** A URL without user info, query and fragment, where people put keys. */
export function bareUrl(url: string): string {
  if (!URL.canParse(url)) return cutGenerously(url)
  const parsed = new URL(url)
  return `${parsed.origin}${parsed.pathname}`.replace(/\/$/, '')
}

/** Of a relative one, as of a proxy, or one that is none because of what its password holds. */
function cutGenerously(url: string): string {
  return url.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '')
}

/**
 * What a request to `url` with `headers` carries that must be in no message: values of headers that say who asks, user info and the
 * parameters of the address. Some are set by the caller and known to no codec.
 */
export function secretsIn(url: string, headers: Record<string, string>): string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    // A scheme and a token, or a token alone. Signatures have parts, and the names of these are no secret.
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

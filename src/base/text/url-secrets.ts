/** Parameters that our codecs add: they say nothing secret. */
const knownParameters = new Set(['alt', 'api-version'])

/** Whether the value of a parameter may be a secret: of all that people put into an address, only what codecs add is not. */
export function isSecretParameter(name: string): boolean {
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

/** Returns why the page cannot connect to `address`; undefined if it can try. `policy`: the content security policy of the page. */
export function addressRefusal(address: string, policy = policyOfPage()): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'This is no address that begins with http:// or https://.'
  if (url.username !== '' || url.password !== '')
    return 'An address with a user name or a password would be kept with the settings. Leave them out.'
  const sources = /(?:^|;)\s*connect-src\s+([^;]*)/.exec(policy)?.[1]?.trim().split(/\s+/)
  if (sources === undefined || sources.some((source) => isCovered(url, source))) return undefined
  return `The content security policy of this page forbids ${url.origin}. The page reaches servers on this machine (http://localhost, http://127.0.0.1) and the services of its list. Run the server, or a proxy for it, on this machine.`
}

function policyOfPage(): string {
  return document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute('content') ?? ''
}

/** Of the sources that policies are written with, those that the page's own has: itself, and an origin with `*` as its first label or its port. */
function isCovered({ protocol, hostname, port, origin }: URL, source: string): boolean {
  if (source === "'self'") return origin === location.origin
  const [, scheme, host = '', ofPort = ''] = /^(https?:)\/\/([^:/]+)(?::(\*|\d+))?$/.exec(source) ?? []
  if (scheme !== protocol || (ofPort !== '*' && ofPort !== port)) return false
  return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host
}

/** Prefix of each server's tool names: its host, so that stored conversations still refer to the same server. */
export function serverPrefixes(addresses: readonly string[]): string[] {
  const taken = new Set<string>()
  return addresses.map((address) => {
    const name = (URL.parse(address)?.host ?? 'server')
      .replace(/[^a-zA-Z0-9]+/g, '-')
      .replace(/^(?![a-zA-Z])/, 'at-')
      .slice(0, 28)
    let prefix = name
    for (let count = 2; taken.has(prefix); count++) prefix = `${name}-${count}`
    taken.add(prefix)
    return prefix
  })
}

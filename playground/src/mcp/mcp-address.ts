/** Returns why the page cannot connect to `address`, or `undefined` if it can try. `policy` is the page's content security policy. */
export function addressRefusal(address: string, policy = policyOfPage()): string | undefined {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol)) return 'Enter a URL that begins with http:// or https://.'
  if (url.username !== '' || url.password !== '') return 'Remove the user name and password from the URL, because the settings store it.'
  const sources = /(?:^|;)\s*connect-src\s+([^;]*)/.exec(policy)?.[1]?.trim().split(/\s+/)
  if (sources === undefined || sources.some((source) => isCovered(url, source))) return undefined
  return `The content security policy of this page forbids ${url.origin}. The page can call servers on this machine (http://localhost, http://127.0.0.1) and the listed providers. Run the server, or a proxy for it, on this machine.`
}

function policyOfPage(): string {
  return document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute('content') ?? ''
}

/** Supports the kinds of sources that the page's own policy uses: `'self'`, and origins with `*` as the first label or the port. */
function isCovered({ protocol, hostname, port, origin }: URL, source: string): boolean {
  if (source === "'self'") return origin === location.origin
  const [, scheme, host = '', ofPort = ''] = /^(https?:)\/\/([^:/]+)(?::(\*|\d+))?$/.exec(source) ?? []
  if (scheme !== protocol || (ofPort !== '*' && ofPort !== port)) return false
  return host.startsWith('*.') ? hostname.endsWith(host.slice(1)) : hostname === host
}

/**
 * Returns the prefix of each server's tool names. It is derived from the host, so that stored conversations still refer to the same server.
 */
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

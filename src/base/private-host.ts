/**
 * Returns whether a host is this machine.
 *
 * **Contract**: `hostname` is normalized as in `URL`. Names are not resolved. Never throws.
 *
 * Source: docs/guides/mcp.md
 */
export function isLoopbackHost(hostname: string): boolean {
  const host = withoutRootDot(hostname)
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || ipv4Of(host)?.[0] === 127
}

/**
 * Returns whether a host is this machine, or an address of a private network.
 *
 * **Contract**: see {@link isLoopbackHost}.
 *
 * Source: docs/guides/mcp.md
 */
export function isPrivateHost(hostname: string): boolean {
  const host = withoutRootDot(hostname)
  if (isLoopbackHost(host) || /\.(local|internal|home\.arpa)$/.test(host)) return true
  const ipv4 = ipv4Of(host)
  if (ipv4 !== undefined) return isPrivateIpv4(...ipv4)
  return host === '[::]' || /^\[(f[cdf][0-9a-f]{2}|fe[89a-f][0-9a-f]):/.test(host)
}

/**
 * Returns whether a document from `from` may refer this program to a different origin `to`. Allows https URLs in the public network,
 * private networks only from a private network, and this machine only from this machine.
 */
export function mayLeadTo(from: URL, to: URL): boolean {
  if (isLoopbackHost(to.hostname)) return isLoopbackHost(from.hostname) && /^https?:$/.test(to.protocol)
  return to.protocol === 'https:' && (!isPrivateHost(to.hostname) || isPrivateHost(from.hostname))
}

function withoutRootDot(hostname: string): string {
  return hostname.replace(/\.$/, '').toLowerCase()
}

/**
 * Returns the first two bytes of an IPv4 address, including IPv4-mapped, -compatible and -translated IPv6. The URL parser has normalized
 * IPv4 to a.b.c.d and IPv6 to its shortest form.
 */
function ipv4Of(host: string): [number, number] | undefined {
  const parts = /^(\d+)\.(\d+)\.\d+\.\d+$/.exec(host)
  if (parts !== null) return [Number(parts[1]), Number(parts[2])]
  const within = /^\[(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):[0-9a-f]{1,4}\]$/.exec(host)?.[1]
  const head = within === undefined ? undefined : Number.parseInt(within, 16)
  return head === undefined ? undefined : [head >> 8, head & 255]
}

function isPrivateIpv4(first: number, second: number): boolean {
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true
  if (first === 100) return second >= 64 && second < 128
  if (first === 169) return second === 254
  if (first === 172) return second >= 16 && second < 32
  return first === 192 && second === 168
}

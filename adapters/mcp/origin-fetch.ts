import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'

/**
 * As `fetch`, for the server at `address` and whoever logs people in for it.
 *
 * **Contract**
 * - `headers` go to the origin of `address` alone. At `address` itself they win over what the SDK sends; elsewhere, where tokens are asked for, they do not.
 * - A server that names where to log in names no address of a network that it is not in itself: other origins are reached over https, or, from a server
 *   on this machine, on this machine.
 * - Redirects are never followed here: the SDK does, within the origin.
 */
export function originFetch(fetch: FetchLike, address: URL, headers: Record<string, string>): FetchLike {
  return async (url, init) => {
    const target = new URL(url)
    if (target.origin !== address.origin) {
      assertReachable(target, address)
      return fetch(url, { redirect: 'manual', ...init })
    }
    const sent = new Headers(init?.headers)
    const wins = target.pathname === address.pathname
    for (const [name, value] of Object.entries(headers)) {
      const isOfProtocol = /^(accept|content-type|mcp-session-id|mcp-protocol-version|last-event-id)$/i.test(name)
      if (!sent.has(name) || (wins && !isOfProtocol)) sent.set(name, value)
    }
    return fetch(url, { redirect: 'manual', ...init, headers: sent })
  }
}

function assertReachable(target: URL, from: URL): void {
  const isHere = isLoopback(target.hostname)
  const isFine = isHere ? isLoopback(from.hostname) : target.protocol === 'https:' && !isInside(target.hostname)
  if (isFine && /^https?:$/.test(target.protocol)) return
  throw new Error(
    `The server named ${target.origin} as a place to log in. That is refused: it is neither reached over https nor on the web.`,
  )
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** Whether a host is written as an address of a private or a link-local network. What a name leads to is for the runtime to say. */
function isInside(host: string): boolean {
  return (
    /^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(host) ||
    /^\[(::|fe[89ab]|f[cd])/i.test(host)
  )
}

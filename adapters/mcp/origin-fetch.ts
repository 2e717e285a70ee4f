import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { mayLeadTo } from '../../src/base/private-host.ts'

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

/**
 * As `provider`, but nobody is sent to a page that this would not fetch: what opens it may be a shell, which starts programs for addresses of other
 * kinds.
 */
export function originProvider(provider: OAuthClientProvider, address: URL): OAuthClientProvider {
  const redirectToAuthorization: OAuthClientProvider['redirectToAuthorization'] = (page) => {
    if (page.origin !== address.origin) assertReachable(page, address)
    return provider.redirectToAuthorization(page)
  }
  return new Proxy(provider, {
    get: (target, key) => {
      if (key === 'redirectToAuthorization') return redirectToAuthorization
      const value: unknown = Reflect.get(target, key, target)
      // What is private to a class is not there for a proxy of it.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function assertReachable(target: URL, from: URL): void {
  if (mayLeadTo(from, target)) return
  throw new Error(
    `The server named ${target.protocol}//${target.host} as a place to log in. That is refused: it is not reached over https, or not on the web.`,
  )
}

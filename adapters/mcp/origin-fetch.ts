import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { mayLeadTo } from '../../src/base/private-host.ts'

/**
 * Wraps `fetch` for the server at `address` and its authorization server.
 *
 * **Contract**
 * - Sends `headers` only to the origin of `address`. They override the SDK's headers at `address` itself, but not at other URLs, such as
 *   the token endpoint.
 * - A server cannot point to an authorization server in a private network: other origins require https, or loopback if the server runs on
 *   this machine.
 * - Never follows redirects. The SDK follows them within the origin.
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
 * Wraps `provider` and rejects login pages that this `fetch` would reject. A shell may open the URL, and would start programs for other
 * schemes.
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
      // Private fields do not work through a proxy.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function assertReachable(target: URL, from: URL): void {
  if (mayLeadTo(from, target)) return
  throw new Error(
    `Refusing to log in at ${target.protocol}//${target.host}, which the server specified: it does not use https, or is not public.`,
  )
}

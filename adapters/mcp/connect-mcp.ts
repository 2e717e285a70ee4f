import { auth, extractWWWAuthenticateParams, type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { headerSecrets } from '../../src/base/text/secrets.ts'
import { headerFields } from '../../src/contract/model/request-settings.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFunction, aText, kind, options as optionsOf, required, withMethods } from '../../src/contract/shape/shape.ts'
import { McpError } from '../../src/mcp/mcp-error.ts'
import { CallStreams, isBrokenOff, reconnectionOptions } from './call-streams.ts'
import { connectMcpOver, connectTable, type McpConnection, type McpConnectOptions } from './connection.ts'
import { boundedFetch, resumableFetch, tracedFetch } from './fetch-layers.ts'
import { originFetch, originProvider } from './origin-fetch.ts'

/** Options for `connectMcp`: URL, headers and login. */
export interface McpHttpOptions extends McpConnectOptions {
  url: string | URL
  /** Headers for every request to the origin of `url`. No other origin receives them. */
  headers?: Record<string, string>
  /** Stores tokens and redirects users to the login. The same interface as the SDK's `OAuthClientProvider`. */
  authProvider?: OAuthClientProvider
  /** Authorization code from the redirect. `connectMcp` exchanges it for tokens before it connects. */
  authorizationCode?: string
  /** Sends requests. Default: the global `fetch`. */
  fetch?: FetchLike
}

const anAddress = kind('an http or https URL without a user name', (value) => {
  const url = typeof value === 'string' || value instanceof URL ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
})

const httpOptions = optionsOf<McpHttpOptions>({
  ...connectTable,
  url: required(anAddress),
  headers: headerFields,
  authProvider: withMethods('an OAuth provider', 'tokens', 'saveTokens', 'redirectToAuthorization'),
  authorizationCode: aText,
  fetch: aFunction,
})

/**
 * Connects to an MCP server over Streamable HTTP, or over SSE if the server only supports that.
 *
 * **Contract**
 * - Follows redirects only within the origin, so headers and tokens never leave it. A response or a single event can have at most 10 MiB.
 * - If the server has lost the session (404, or 400 with a message about the session), starts a new one, once per call.
 * - Resumes a broken stream. If the server cannot resume it, for example after a restart, the call fails immediately. Sends a read-only or
 *   idempotent call once more.
 * - Errors and logs never contain tokens or values of `headers`. Generates no code, so it works under a strict CSP.
 * - Rejects with `McpError` `unauthorized` if the server rejects access, also after a redirect to the login. Then connect again with
 *   `authorizationCode`.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const client = await connectMcp({ url: 'https://example.com/mcp', headers: { authorization: `Bearer ${token}` } })
 * const tools = await mcpTools(client, { prefix: 'example' })
 */
export async function connectMcp(options: McpHttpOptions): Promise<McpConnection> {
  checkOptions(options, httpOptions)
  const { url, headers = {}, authProvider: ofCaller, authorizationCode, fetch: given, ...others } = options
  const address = new URL(url)
  const authProvider = ofCaller && originProvider(ofCaller, address)
  const reached = originFetch(given ?? ((input, init) => fetch(input, init)), address, headers)
  const fetchLike = tracedFetch(resumableFetch(boundedFetch(reached)))
  const setting = { fetch: fetchLike, ...(authProvider !== undefined && { authProvider }) }
  let code = authorizationCode
  let current: StreamableHTTPClientTransport | undefined
  const redeem = async (): Promise<void> => {
    const once = code
    code = undefined
    if (once === undefined) return
    if (authProvider === undefined) throw new McpError('unauthorized', 'An authorizationCode requires an authProvider. Pass one.')
    await exchange(once, authProvider, address, fetchLike)
  }
  return connectMcpOver(
    {
      open: async (attempt) => {
        current = undefined
        await redeem()
        if (attempt > 0) {
          const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js')
          return new SSEClientTransport(address, setting)
        }
        const streams = new CallStreams()
        current = new StreamableHTTPClientTransport(address, { ...setting, fetch: streams.fetch(fetchLike), reconnectionOptions })
        return streams.follow(current)
      },
      isOther: (error) => error instanceof StreamableHTTPError && [400, 404, 405, 406, 415].includes(error.code ?? 0),
      // Many servers send 400 instead of the protocol's 404.
      isForgotten: (error) =>
        error instanceof StreamableHTTPError && (error.code === 404 || (error.code === 400 && /session/i.test(error.message))),
      isBrokenOff,
      end: async () => current?.terminateSession(),
      secrets: async () => [
        ...Object.values(headers).flatMap(headerSecrets),
        authorizationCode ?? '',
        ...(await tokensOf(authProvider)),
        ...address.searchParams.values(),
      ],
    },
    others,
  )
}

/**
 * Exchanges a code for tokens. Requests the server's metadata again, because the login may have started in another page, and the redirect
 * contains only the code.
 */
async function exchange(authorizationCode: string, provider: OAuthClientProvider, serverUrl: URL, fetchFn: FetchLike): Promise<void> {
  const known = await challenge(serverUrl, fetchFn)
  if ((await auth(provider, { serverUrl, authorizationCode, fetchFn, ...known })) !== 'AUTHORIZED') throw new UnauthorizedError()
}

/** Returns the server's response to a request without a token. The request has no effect even if it is accepted. */
async function challenge(url: URL, fetchFn: FetchLike): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const ping = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'who', method: 'ping' })
  const asked: RequestInit[] = [
    { method: 'POST', headers: ping, body },
    { method: 'GET', headers: { accept: 'text/event-stream' } },
  ]
  for (const init of asked) {
    const response = await fetchFn(url, init)
    await response.body?.cancel()
    if (response.status !== 401) continue
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response)
    return { ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) }
  }
  return {}
}

async function tokensOf(provider: OAuthClientProvider | undefined): Promise<string[]> {
  const tokens = await provider?.tokens()
  return tokens === undefined ? [] : [tokens.access_token, tokens.refresh_token ?? '', tokens.id_token ?? '']
}

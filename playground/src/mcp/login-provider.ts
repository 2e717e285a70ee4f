import type { McpHttpOptions } from '../../../adapters/mcp/index.ts'
import { keyOf, setKey } from '../models/key-vault.ts'

type OAuthProvider = NonNullable<McpHttpOptions['authProvider']>
type Tokens = NonNullable<Awaited<ReturnType<OAuthProvider['tokens']>>>
type Client = NonNullable<Awaited<ReturnType<OAuthProvider['clientInformation']>>>

/** The owner of a token that the user entered for the server at `address`. */
export const tokenOwner = (address: string) => `mcp ${address}`
/** The owner of a login at the server at `address`. */
const loginOwner = (address: string) => `mcp login ${address}`

/** The name that the page sends to servers, and its connection timeout. */
export const introduction = { clientInfo: { name: 'phi-playground', version: '1' }, connectTimeoutMs: 8000 }

/** Returns the token or login for the server at `address`. It is sent to no other origin. */
export function credentialsOf(address: string): Pick<McpHttpOptions, 'headers' | 'authProvider'> {
  const token = keyOf(tokenOwner(address))
  if (token !== undefined) return { headers: { authorization: `Bearer ${token}` } }
  return keyOf(loginOwner(address)) === undefined ? {} : { authProvider: new LoginProvider(address) }
}

/** Returns the caller's identity, for comparisons. A refreshed token does not change it. */
export function identityOf(address: string): string {
  return keyOf(tokenOwner(address)) ?? (keyOf(loginOwner(address)) === undefined ? '' : 'login')
}

/** The page's login at one server. Its tokens are stored like keys. */
export class LoginProvider implements OAuthProvider {
  readonly redirectUrl = new URL('mcp-login.html', document.baseURI).href
  readonly clientMetadata = {
    client_name: 'phi playground',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  readonly #owner: string
  readonly #show: ((page: URL) => void) | undefined
  readonly #state: string = crypto.randomUUID()
  #client: Client | undefined
  #verifier = ''

  /** `show` opens the login page. Without it, no login is requested. */
  constructor(address: string, show?: (page: URL) => void) {
    this.#owner = loginOwner(address)
    this.#show = show
    this.#client = this.#kept()?.client
  }

  state(): string {
    return this.#state
  }

  clientInformation(): Client | undefined {
    return this.#client
  }

  saveClientInformation(client: Client): void {
    this.#client = client
  }

  tokens(): Tokens | undefined {
    return this.#kept()?.tokens
  }

  saveTokens(tokens: Tokens): void {
    setKey(this.#owner, JSON.stringify({ client: this.#client, tokens }))
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.#client = undefined
    if (scope === 'all' || scope === 'tokens') setKey(this.#owner, '')
  }

  redirectToAuthorization(page: URL): void {
    this.#show?.(page)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  /** Stored by this class. */
  #kept(): { client: Client; tokens: Tokens } | undefined {
    const kept = keyOf(this.#owner)
    return kept === undefined ? undefined : JSON.parse(kept)
  }
}

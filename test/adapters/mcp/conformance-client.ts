// The program that the official scenarios drive: `connectMcp` and `mcpTools` as an application uses them. Its last argument is the address.
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { connectMcp, type McpHttpOptions, type McpToolSet, mcpTools } from '../../../adapters/mcp/index.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ''
const context: Record<string, string> = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}')

/** What a browser does with a person who says yes: it comes back with a code. */
class Person {
  code: string | undefined

  async visit(page: URL): Promise<void> {
    const response = await fetch(page, { redirect: 'manual' })
    this.code = new URL(response.headers.get('location') ?? '').searchParams.get('code') ?? undefined
  }
}

function providerOf(person: Person): OAuthClientProvider {
  const clientMetadata = { client_name: 'phi-core', redirect_uris: ['http://127.0.0.1:9/callback'] }
  const kept: { [K in 'information' | 'tokens' | 'verifier' | 'state']?: unknown } = {}
  const registered = context.client_id === undefined ? undefined : { client_id: context.client_id, client_secret: context.client_secret }
  return {
    redirectUrl: 'http://127.0.0.1:9/callback',
    clientMetadata,
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientInformation: () => (kept.information ?? registered) as never,
    saveClientInformation: (information) => void Object.assign(kept, { information }),
    tokens: () => kept.tokens as never,
    saveTokens: (tokens) => void Object.assign(kept, { tokens }),
    saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
    codeVerifier: () => String(kept.verifier),
    redirectToAuthorization: (page) => person.visit(page),
  }
}

/** Trades the identity token of a company for one of the server, without a person. */
function crossAppProvider(): OAuthClientProvider {
  const provider = new ClientCredentialsProvider({ clientId: context.client_id ?? '', clientSecret: context.client_secret ?? '' })
  const exchange = async (): Promise<URLSearchParams> => {
    const resource = new URL(url)
    const metadata = await (await fetch(new URL('/.well-known/oauth-protected-resource/mcp', resource))).json()
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:id-jag',
      subject_token: context.idp_id_token ?? '',
      subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
      audience: metadata.authorization_servers[0],
      resource: metadata.resource,
      client_id: context.idp_client_id ?? '',
    })
    const { access_token } = await (await fetch(context.idp_token_endpoint ?? '', { method: 'POST', body })).json()
    return new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: access_token })
  }
  return Object.assign(provider, { prepareTokenRequest: exchange }) as unknown as OAuthClientProvider
}

function authProvider(person: Person): OAuthClientProvider {
  const clientId = context.client_id ?? ''
  if (scenario === 'auth/client-credentials-basic')
    return new ClientCredentialsProvider({ clientId, clientSecret: context.client_secret ?? '' })
  if (scenario === 'auth/client-credentials-jwt')
    return new PrivateKeyJwtProvider({
      clientId,
      privateKey: context.private_key_pem ?? '',
      algorithm: context.signing_algorithm ?? '',
    })
  return scenario === 'auth/cross-app-access-complete-flow' ? crossAppProvider() : providerOf(person)
}

/** Connects, and again with the code for as long as people are sent to log in. */
async function connected(options: McpHttpOptions, person: Person): Promise<McpToolSet> {
  for (let visits = 0; ; visits++) {
    // Somebody who was sent away three times is sent away no more.
    const again = (error: unknown): undefined => {
      if (person.code === undefined || visits > 1) throw error
    }
    const { code } = person
    person.code = undefined
    const client = await connectMcp({ ...options, ...(code !== undefined && { authorizationCode: code }) }).catch(again)
    const refused = async (error: unknown): Promise<undefined> => {
      await client?.close()
      again(error)
    }
    const set = client && (await mcpTools(client).catch(refused))
    if (set !== undefined) return set
  }
}

async function callAll(set: McpToolSet): Promise<void> {
  const toolCalls = set.map(({ name }) => ({ name, arguments: name === 'add_numbers' ? { a: 2, b: 3 } : {} }))
  const agent = new Agent({ model: scripted([{ toolCalls }, { text: 'done' }]), tools: set, owns: [set] })
  agent.subscribe((event) => {
    if (event.type === 'inputRequested') agent.currentRun?.answer(event, { action: 'accept' })
  })
  const { messages } = await agent.prompt('Call them all.').result
  for (const message of messages) if (message.role === 'toolResult') console.log(JSON.stringify(message.content))
  await agent.close()
}

const person = new Person()
const options: McpHttpOptions = {
  url,
  logger: { warn: (event, fields) => console.error(event, JSON.stringify(fields)) },
  ...(scenario.startsWith('auth/') && { authProvider: authProvider(person) }),
  onElicit: 'event',
}
await callAll(await connected(options, person))
// A call that needed more rights has sent the person away once more.
for (let step = 0; step < 3 && person.code !== undefined; step++) await callAll(await connected(options, person))

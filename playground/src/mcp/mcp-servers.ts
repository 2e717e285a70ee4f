import { connectMcp, McpError, type McpToolSet, mcpTools } from '../../../adapters/mcp/index.ts'
import type { AgentTool } from '../../../src/index.ts'
import { networkCause, networkCauses } from '../conversation/ending/network-cause.ts'
import { keyOwners } from '../models/key-vault.ts'
import { errorText } from '../parts/error-text.ts'
import type { Settings } from '../settings/settings.ts'
import type { TypedMentions } from '../state/backend/chat-port.ts'
import { connectedSets } from './connected-sets.ts'
import { credentialsOf, identityOf, introduction } from './login-provider.ts'
import { addressRefusal, serverPrefixes } from './mcp-address.ts'
import { typedMentions } from './typed-mentions.tsx'

/** A server's tools, or the reason why the server is unusable. */
export type McpOffer = { isThere: true; tools: readonly string[] } | { isThere: false; why: string; wantsLogin: boolean }

/** What an agent receives from the servers in the settings. */
export interface McpOfSettings {
  tools: () => AgentTool[]
  mentions?: TypedMentions | undefined
  /** Why servers cannot be used. */
  failures: string[]
}

/** How a server is used. Connections are cached by this. */
interface Use {
  address: string
  prefix: string
  asksBeforeWriting: boolean
}

/** A connection of the page, and the identity that it was made with. */
interface Opened {
  address: string
  identity: string
  connecting: Promise<McpToolSet>
}

/** Connections, shared by all conversations of the page while the server is in the settings. */
const open = new Map<string, Opened>()

// Closes the connections whose identity has changed.
keyOwners.subscribe(() => {
  for (const [key, { address, identity }] of open) if (identity !== identityOf(address)) letGo(key)
})

function letGo(key: string): void {
  const opened = open.get(key)
  open.delete(key)
  void opened?.connecting
    .then((set) => {
      connectedSets.value = connectedSets.value.filter((each) => each !== set)
      return set.close()
    })
    .catch(() => undefined) // the failure was already reported to the caller that opened it
}

/** Connects to the enabled servers. Unusable servers are reported in `failures`, and the others are available. */
export async function mcpServerTools(settings: Settings): Promise<McpOfSettings> {
  const uses = usesOf(settings)
  const wanted = new Map(uses.map((use) => [JSON.stringify(use), use]))
  for (const key of open.keys()) if (!wanted.has(key)) letGo(key)
  const sets: McpToolSet[] = []
  const failures: string[] = []
  for (const result of await Promise.all([...wanted].map(([key, use]) => connected(key, use)))) {
    if (typeof result === 'string') failures.push(result)
    else sets.push(result)
  }
  connectedSets.value = sets
  return { tools: () => sets.flatMap((set) => [...set]), mentions: typedMentions(sets), failures }
}

/** Returns the enabled servers with their prefixes. A disabled server keeps its prefix. */
function usesOf({ mcpServers, asksBeforeWriting }: Settings): Use[] {
  const prefixes = serverPrefixes(mcpServers.map(({ address }) => address))
  return mcpServers.flatMap(({ address, isOn }, at) => (isOn ? [{ address, prefix: prefixes[at] ?? '', asksBeforeWriting }] : []))
}

async function connected(key: string, use: Use): Promise<McpToolSet | string> {
  const { address } = use
  const opened = open.get(key) ?? { address, identity: identityOf(address), connecting: connect(use) }
  open.set(key, opened)
  try {
    return await opened.connecting
  } catch (error) {
    // The next attempt connects again.
    if (open.get(key) === opened) open.delete(key)
    return `The MCP server at ${use.address} is not used: ${await whyNot(use.address, error)}`
  }
}

async function connect({ address, prefix, asksBeforeWriting }: Use): Promise<McpToolSet> {
  const refusal = addressRefusal(address)
  if (refusal !== undefined) throw new McpError('connection', refusal)
  const client = await connectMcp({ ...introduction, url: address, ...credentialsOf(address), onElicit: 'event', apps: true })
  try {
    const asks = asksBeforeWriting ? { needsApproval: isWriting } : {}
    return await mcpTools(client, { prefix, ...asks })
  } catch (error) {
    await client.close()
    throw error
  }
}

/** All tools that are not declared as read-only. */
const isWriting = ({ annotations }: { annotations?: { readOnlyHint?: boolean | undefined } | undefined }) =>
  annotations?.readOnlyHint !== true

/** Loads a server's tools for the settings. Never rejects. */
export async function mcpOffer(address: string): Promise<McpOffer> {
  try {
    const [prefix = ''] = serverPrefixes([address])
    await using set = await connect({ address, prefix, asksBeforeWriting: true })
    return { isThere: true, tools: set.slice(0, 100).map(({ name }) => name.replace(`${prefix}__`, '')) }
  } catch (error) {
    const wantsLogin = McpError.isInstance(error) && error.code === 'unauthorized'
    return { isThere: false, wantsLogin, why: await whyNot(address, error) }
  }
}

async function whyNot(address: string, error: unknown): Promise<string> {
  if (addressRefusal(address) !== undefined || !McpError.isInstance(error)) return errorText(error)
  if (error.code === 'unauthorized') {
    const isKnown = identityOf(address) !== ''
    return isKnown ? 'It rejects the login or token of this page. Enter another one.' : 'It requires a login. Log in, or enter a token.'
  }
  // Browsers do not report why a request failed.
  const cause = /interrupted|failed to fetch|networkerror|load failed/i.test(error.message) ? await networkCause(address) : undefined
  return cause === undefined ? error.message : networkCauses[cause]
}

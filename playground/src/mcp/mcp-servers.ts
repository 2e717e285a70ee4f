import { connectMcp, McpError, type McpToolSet, mcpTools } from '../../../adapters/mcp/index.ts'
import type { AgentTool } from '../../../src/index.ts'
import { networkCause, networkCauses } from '../conversation/ending/network-cause.ts'
import { keyOwners } from '../models/key-vault.ts'
import { errorText } from '../parts/error-text.ts'
import type { Settings } from '../settings/settings.ts'
import { credentialsOf, identityOf, introduction } from './login-provider.ts'
import { addressRefusal, serverPrefixes } from './mcp-address.ts'

/** The tools of a server, or why it is unusable. */
export type McpOffer = { isThere: true; tools: readonly string[] } | { isThere: false; why: string; wantsLogin: boolean }

/** How a server is used; the connections of the page are kept by it. */
interface Use {
  address: string
  prefix: string
  asksBeforeWriting: boolean
}

/** A connection of the page, and as whom it was made. */
interface Opened {
  address: string
  identity: string
  connecting: Promise<McpToolSet>
}

/** Shared by all conversations of the page, for as long as the settings name the server. */
const open = new Map<string, Opened>()

// A removed server is no longer reported.
keyOwners.subscribe(() => {
  for (const [key, { address, identity }] of open) if (identity !== identityOf(address)) letGo(key)
})

function letGo(key: string): void {
  const opened = open.get(key)
  open.delete(key)
  void opened?.connecting.then((set) => set.close()).catch(() => undefined) // whoever opened it has been told
}

/** Connects to the servers that are on. A server that cannot be used is one of the `failures`, and the others are there. */
export async function mcpServerTools(settings: Settings): Promise<{ tools: () => AgentTool[]; failures: string[] }> {
  const uses = usesOf(settings)
  const wanted = new Map(uses.map((use) => [JSON.stringify(use), use]))
  for (const key of open.keys()) if (!wanted.has(key)) letGo(key)
  const sets: McpToolSet[] = []
  const failures: string[] = []
  for (const result of await Promise.all([...wanted].map(([key, use]) => connected(key, use)))) {
    if (typeof result === 'string') failures.push(result)
    else sets.push(result)
  }
  return { tools: () => sets.flatMap((set) => [...set]), failures }
}

/** Those that are on, each with its prefix: one that is off keeps its own. */
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
    // The next try is a new one.
    if (open.get(key) === opened) open.delete(key)
    return `The MCP server at ${use.address} is left out: ${await whyNot(use.address, error)}`
  }
}

async function connect({ address, prefix, asksBeforeWriting }: Use): Promise<McpToolSet> {
  const refusal = addressRefusal(address)
  if (refusal !== undefined) throw new McpError('connection', refusal)
  const client = await connectMcp({ ...introduction, url: address, ...credentialsOf(address), onElicit: 'event' })
  try {
    const asks = asksBeforeWriting ? { needsApproval: isWriting } : {}
    return await mcpTools(client, { prefix, ...asks })
  } catch (error) {
    await client.close()
    throw error
  }
}

/** All that does not say of itself that it only reads. */
const isWriting = ({ annotations }: { annotations?: { readOnlyHint?: boolean | undefined } | undefined }) =>
  annotations?.readOnlyHint !== true

/** Loads the tools of a server for the settings. Never rejects. */
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
    return isKnown
      ? 'It does not take the login or the token of this page. Give another one.'
      : 'It lets nobody in without a login. Log in, or enter a token.'
  }
  // No browser says why a request never came back.
  const cause = /broke off|failed to fetch|networkerror|load failed/i.test(error.message) ? await networkCause(address) : undefined
  return cause === undefined ? error.message : networkCauses[cause]
}

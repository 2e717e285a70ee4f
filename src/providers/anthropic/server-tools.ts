import { isJsonObject, type JsonObject } from '../../contract/json.ts'
import type { ServiceToolContent } from '../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import { toJson } from '../kit/encode/json-pieces.ts'
import { refuseServerTools, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { payloadOf } from '../kit/optional/server-tools/service-payload.ts'

/** Domain filter of a search or fetch: allowed or blocked domains. */
interface DomainOptions {
  /** Maximum uses per request. */
  maxUses?: number | undefined
  allowedDomains?: readonly string[] | undefined
  blockedDomains?: readonly string[] | undefined
}

/** Options for `anthropicTools.webSearch`. */
export interface AnthropicWebSearchOptions extends DomainOptions {
  /** The user's location: `{ country: 'DE', city: 'Bonn' }`. */
  userLocation?: { city?: string; region?: string; country?: string; timezone?: string } | undefined
}

/** Options for `anthropicTools.webFetch`. */
export interface AnthropicWebFetchOptions extends DomainOptions {
  maxContentTokens?: number | undefined
  citations?: boolean | undefined
}

/** Options for `anthropicTools.mcp`. */
export interface AnthropicMcpOptions {
  /** The server's name, used in its tool names. */
  name: string
  /** `https` URL of a server with Streamable HTTP. */
  url: string
  /** The server's authorization token. Sent only to the provider, with each request. */
  authorizationToken?: string | undefined
  /** Tools that the model can call. Default: all. */
  allowedTools?: readonly string[] | undefined
}

/**
 * Provider-executed tools of the Messages API, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/anthropic.md
 *
 * @example
 * ```ts
 * const model = anthropic('claude-sonnet-5', { apiKey, serverTools: [anthropicTools.webSearch({ maxUses: 3 })] })
 * ```
 */
export const anthropicTools = {
  /** Searches the web. */
  webSearch: ({ userLocation, ...domains }: AnthropicWebSearchOptions = {}): JsonObject => ({
    type: 'web_search_20260318',
    name: 'web_search',
    ...domainFields(domains),
    ...(userLocation !== undefined && { user_location: { type: 'approximate', ...userLocation } }),
  }),
  /** Fetches web pages whose URLs occur in the conversation. */
  webFetch: ({ maxContentTokens, citations, ...domains }: AnthropicWebFetchOptions = {}): JsonObject => ({
    type: 'web_fetch_20260318',
    name: 'web_fetch',
    ...domainFields(domains),
    ...(maxContentTokens !== undefined && { max_content_tokens: maxContentTokens }),
    ...(citations !== undefined && { citations: { enabled: citations } }),
  }),
  /** Runs code in a container of the provider. */
  codeExecution: (): JsonObject => ({ type: 'code_execution_20260521', name: 'code_execution' }),
  /** Lets the model search tools that are declared with `defer_loading`. */
  toolSearch: ({ by = 'bm25' }: { by?: 'bm25' | 'regex' } = {}): JsonObject => searchBy(by),
  /** Calls tools of a remote MCP server. */
  mcp: ({ name, url, authorizationToken, allowedTools }: AnthropicMcpOptions): JsonObject => ({
    type: 'mcp_toolset',
    mcp_server_name: name,
    ...(allowedTools !== undefined && {
      default_config: { enabled: false },
      configs: Object.fromEntries(allowedTools.map((tool) => [tool, { enabled: true }])),
    }),
    server: { type: 'url', name, url, ...(authorizationToken !== undefined && { authorization_token: authorizationToken }) },
  }),
} as const

function searchBy(by: 'bm25' | 'regex'): JsonObject {
  return { type: `${searchName}${by}_20251119`, name: `${searchName}${by}` }
}

const searchName = 'tool_search_tool_'

function domainFields({ maxUses, allowedDomains, blockedDomains }: DomainOptions): JsonObject {
  return {
    ...(maxUses !== undefined && { max_uses: maxUses }),
    ...(allowedDomains !== undefined && { allowed_domains: [...allowedDomains] }),
    ...(blockedDomains !== undefined && { blocked_domains: [...blockedDomains] }),
  }
}

/** Request fields for `serverTools`. */
export interface ServerToolParts {
  /** Declarations, comma-separated. */
  tools: string
  /** `,"mcp_servers":[…]`, or empty. */
  mcpServersJson: string
  betas: readonly string[]
  /**
   * Returns whether one of the declared tools produced a block, because the API rejects blocks of undeclared tools. Absent if
   * `serverTools` declares none, because `body` may declare some.
   */
  knows: ((block: ServiceToolContent) => boolean) | undefined
  /** Whether one of the tools is a tool search. */
  searches: boolean
}

/** Beta headers by prefix of the tool type. */
const betas: readonly (readonly [string, string])[] = [
  ['mcp_toolset', 'mcp-client-2025-11-20'],
  ['advisor_', 'advisor-tool-2026-03-01'],
]

/** Throws `ConfigError` `invalidOption` for declarations that the API would reject. */
export function checkServerTools(tools: ServerTools): void {
  const servers = new Set(serversOf(tools).map(({ name }) => name))
  const toolsets = tools.filter(({ type }) => type === 'mcp_toolset').map(({ mcp_server_name: name }) => name)
  for (const { type, name, allowed_domains: allowed, blocked_domains: blocked } of tools) {
    if (typeof type !== 'string') refuseServerTools("an entry has no type. Use anthropicTools or the provider's declaration")
    if (allowed !== undefined && blocked !== undefined)
      refuseServerTools(`${String(name ?? type)} has both allowed and blocked domains; set only one`)
  }
  for (const name of toolsets)
    if (!servers.has(name ?? '')) refuseServerTools(`the toolset of ${JSON.stringify(name)} has no server. Use anthropicTools.mcp`)
  for (const name of servers)
    if (!toolsets.includes(name)) refuseServerTools(`the MCP server ${JSON.stringify(name)} has no toolset. Use anthropicTools.mcp`)
  if (new Set(toolsets).size < toolsets.length) refuseServerTools('an MCP server has two toolsets; one is allowed')
  if (tools.length > 0 && tools.every(({ defer_loading: isDeferred }) => isDeferred === true))
    refuseServerTools('every tool has defer_loading; at least one must not')
}

/** Returns the request fields for `tools`. */
export function serverToolParts(tools: ServerTools): ServerToolParts {
  const servers = serversOf(tools)
  const declared = tools.filter(({ type }) => type !== 'url').map(({ server: _server, ...tool }) => toJson(tool))
  const wanted = betas.filter(([start]) => tools.some(({ type }) => String(type).startsWith(start))).map(([, beta]) => beta)
  return {
    tools: declared.join(','),
    mcpServersJson: servers.length === 0 ? '' : `,"mcp_servers":${toJson(servers)}`,
    betas: wanted,
    knows: tools.length === 0 ? undefined : ({ name }) => tools.some((tool) => hasRun(tool, name)),
    searches: tools.some(({ type }) => String(type).startsWith(searchName)),
  }
}

/** Returns the tool search declaration, unless the caller declared one. */
export function searchJson({ searches }: ServerToolParts): string {
  return searches ? '' : toJson(searchBy('bm25'))
}

/**
 * Returns a predicate for blocks that can be sent back with the tools `deferred`. The API rejects references to undeclared tools, and all
 * references without a search tool.
 */
export function searchKnows(
  { knows, searches }: ServerToolParts,
  deferred: readonly ToolDefinition[],
): (block: ServiceToolContent) => boolean {
  const names = new Set(deferred.map(({ name }) => name))
  return (block) => {
    // A caller that declares a search tool also declares its tools, possibly in `body`.
    if (!block.name.startsWith(searchName) || searches) return knows?.(block) ?? true
    const { tool_references: found }: { tool_references?: unknown } = Object(payloadOf(block).result?.content)
    return names.size > 0 && (!Array.isArray(found) || found.every((each) => names.has(Object(each).tool_name)))
  }
}

/** Tools that run code for other tools. The newer web tools include them. */
const codeTools: ReadonlySet<string> = new Set(['code_execution', 'bash_code_execution', 'text_editor_code_execution'])

function hasRun({ type, name, mcp_server_name: server }: JsonObject, ran: string): boolean {
  if (type === 'mcp_toolset') return typeof server === 'string' && ran.startsWith(`mcp.${server}.`)
  return name === ran || (codeTools.has(ran) && /^(code_execution|web_)/.test(String(name)))
}

function serversOf(tools: ServerTools): JsonObject[] {
  return tools.flatMap((tool) => {
    if (tool.type === 'url') return [tool]
    const { server } = tool
    return isJsonObject(server) ? [server] : []
  })
}

/** Returns this conversation's last container, unless it has expired. */
export function containerIn(messages: readonly Message[], { api, id: model, provider }: ModelConfig): string | undefined {
  const named = messages.findLast(
    (message): message is AssistantMessage => message.role === 'assistant' && message.providerState?.payload.container !== undefined,
  )
  const state = named?.providerState
  if (named?.provider !== provider || state?.api !== api || state.model !== model) return undefined
  const { id, expires_at: expiresAt }: Record<string, unknown> = Object(state.payload.container)
  const isExpired = typeof expiresAt === 'string' && Date.parse(expiresAt) <= Date.now()
  return typeof id === 'string' && !isExpired ? id : undefined
}

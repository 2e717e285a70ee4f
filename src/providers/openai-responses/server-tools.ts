import { type JsonObject, ownOf } from '../../contract/json.ts'
import { refuseServerTools, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'

/** Options for `openaiTools.webSearch`. */
export interface OpenAiWebSearchOptions {
  allowedDomains?: readonly string[] | undefined
  /** Amount of search content that the model gets. */
  contextSize?: 'low' | 'medium' | 'high' | undefined
  /** The user's location: `{ country: 'DE', city: 'Bonn' }`. */
  userLocation?: { city?: string; region?: string; country?: string; timezone?: string } | undefined
}

/** Options for `xaiTools.webSearch`: allowed or excluded domains. */
export interface XaiWebSearchOptions {
  allowedDomains?: readonly string[] | undefined
  excludedDomains?: readonly string[] | undefined
  /** Whether the model also sees images of the pages. */
  imageUnderstanding?: boolean | undefined
}

/** Options for `xaiTools.xSearch`. */
export interface XaiXSearchOptions {
  /** Account names without `@`. */
  allowedHandles?: readonly string[] | undefined
  /** First day, such as `2026-01-31`. */
  fromDate?: string | undefined
  /** Last day. */
  toDate?: string | undefined
}

/** Options for `openaiTools.mcp`. */
export interface OpenAiMcpOptions {
  /** The server's name, used in its tool names. */
  label: string
  /** `https` URL of the server. */
  url: string
  /** Authorization for the server. Sent only to the provider, with each request. */
  authorization?: string | undefined
  /** Tools that the model can call. Default: all. */
  allowedTools?: readonly string[] | undefined
  /** Whether each call needs approval. Default: `always`. */
  requireApproval?: 'always' | 'never' | undefined
}

/**
 * Provider-executed tools of the Responses API, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/openai-responses.md
 */
export const openaiTools = {
  /** Searches the web. */
  webSearch: ({ allowedDomains, contextSize, userLocation }: OpenAiWebSearchOptions = {}): JsonObject => ({
    type: 'web_search',
    ...(allowedDomains !== undefined && { filters: { allowed_domains: [...allowedDomains] } }),
    ...(contextSize !== undefined && { search_context_size: contextSize }),
    ...(userLocation !== undefined && { user_location: { type: 'approximate', ...userLocation } }),
  }),
  /** Searches files in the provider's vector stores. */
  fileSearch: ({ vectorStoreIds, maxResults }: { vectorStoreIds: readonly string[]; maxResults?: number }): JsonObject => ({
    type: 'file_search',
    vector_store_ids: [...vectorStoreIds],
    ...(maxResults !== undefined && { max_num_results: maxResults }),
  }),
  /** Runs Python in a provider container. */
  codeInterpreter: ({ fileIds }: { fileIds?: readonly string[] } = {}): JsonObject => ({
    type: 'code_interpreter',
    container: { type: 'auto', ...(fileIds !== undefined && { file_ids: [...fileIds] }) },
  }),
  /** Generates images. Emits `partialImages` previews (0 to 3) during generation. */
  imageGeneration: ({ size, quality, partialImages }: { size?: string; quality?: string; partialImages?: number } = {}): JsonObject => ({
    type: 'image_generation',
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(partialImages !== undefined && { partial_images: partialImages }),
  }),
  /** Calls tools of a remote MCP server. */
  mcp: ({ label, url, authorization, allowedTools, requireApproval = 'always' }: OpenAiMcpOptions): JsonObject => ({
    ...{ type: 'mcp', server_label: label, server_url: url, require_approval: requireApproval },
    ...(authorization !== undefined && { authorization }),
    ...(allowedTools !== undefined && { allowed_tools: [...allowedTools] }),
  }),
  /** Lets the model search tools that are declared with `defer_loading`. */
  toolSearch: (): JsonObject => searchJson,
  /** Runs commands in a provider container. */
  shell: (): JsonObject => ({ type: 'shell', environment: { type: 'container_auto' } }),
} as const

/**
 * xAI's provider-executed tools on the Responses API, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/openai-responses.md
 *
 * @example
 * ```ts
 * const serverTools = [xaiTools.xSearch({ allowedHandles: ['xai'] })]
 * const grok = openaiResponses('grok-4.3', { apiKey, provider: 'xai', baseUrl: 'https://api.x.ai/v1', serverTools })
 * ```
 */
export const xaiTools = {
  /** Searches the web. */
  webSearch: ({ allowedDomains, excludedDomains, imageUnderstanding }: XaiWebSearchOptions = {}): JsonObject => ({
    type: 'web_search',
    ...(allowedDomains !== undefined && { allowed_domains: [...allowedDomains] }),
    ...(excludedDomains !== undefined && { excluded_domains: [...excludedDomains] }),
    ...(imageUnderstanding !== undefined && { enable_image_understanding: imageUnderstanding }),
  }),
  /** Searches posts on X. */
  xSearch: ({ allowedHandles, fromDate, toDate }: XaiXSearchOptions = {}): JsonObject => ({
    type: 'x_search',
    ...(allowedHandles !== undefined && { allowed_x_handles: [...allowedHandles] }),
    ...(fromDate !== undefined && { from_date: fromDate }),
    ...(toDate !== undefined && { to_date: toDate }),
  }),
} as const

/** Declaration of the tool search. */
export const searchJson = { type: 'tool_search' }

/** Tools that a caller must run. This package does not support them. */
const ofCaller: ReadonlySet<string> = new Set(['function', 'custom', 'computer', 'computer_use_preview', 'apply_patch', 'local_shell'])

/** `include` values that add tool results to the response. */
const contents: Readonly<Record<string, string>> = {
  web_search: 'web_search_call.action.sources',
  file_search: 'file_search_call.results',
  code_interpreter: 'code_interpreter_call.outputs',
}

/** Returns the `include` values for `tools`. */
export function includedFor(tools: ServerTools): string[] {
  return tools.flatMap(({ type }) => (typeof type === 'string' ? (ownOf(contents, type) ?? []) : []))
}

/** Throws `ConfigError` `invalidOption` for declarations that the provider would reject. */
export function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    const { type, allowed_domains: allowed, excluded_domains: excluded, environment, execution } = tool
    if (typeof type !== 'string') refuseServerTools("an entry has no type. Use openaiTools or the provider's declaration")
    const isLocal = (type === 'shell' && Object(environment).type === 'local') || execution === 'client'
    if (ofCaller.has(type) || isLocal) refuseServerTools(`the service does not run ${type} as declared. Make it a tool of the agent`)
    if (allowed !== undefined && excluded !== undefined) refuseServerTools(`${type} has both allowed and excluded domains; set only one`)
    if (type === 'mcp') checkMcp(tool)
  }
}

function checkMcp({ server_url: url, connector_id: connector, tunnel_id: tunnel, server_label: label }: JsonObject): void {
  if (typeof label !== 'string' || label === '') refuseServerTools('an MCP server has no server_label')
  const given = [url, connector, tunnel].filter((each) => each !== undefined)
  if (given.length !== 1)
    refuseServerTools(`the MCP server ${JSON.stringify(label)} has ${given.length} of server_url, connector_id and tunnel_id; it needs one`)
}

import { type JsonObject, ownOf } from '../../contract/json.ts'
import { refuseServerTools, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'

/** Options of `openaiTools.webSearch`. */
export interface OpenAiWebSearchOptions {
  allowedDomains?: readonly string[] | undefined
  /** How much of what was found the model is given. */
  contextSize?: 'low' | 'medium' | 'high' | undefined
  /** Where the person is, as the service takes it: `{ country: 'DE', city: 'Bonn' }`. */
  userLocation?: { city?: string; region?: string; country?: string; timezone?: string } | undefined
}

/** Options of `xaiTools.webSearch`: domains that are allowed, or those that are not. */
export interface XaiWebSearchOptions {
  allowedDomains?: readonly string[] | undefined
  excludedDomains?: readonly string[] | undefined
  /** The model also looks at pictures of the pages. */
  imageUnderstanding?: boolean | undefined
}

/** Options of `xaiTools.xSearch`. */
export interface XaiXSearchOptions {
  /** Names of accounts, without `@`. */
  allowedHandles?: readonly string[] | undefined
  /** The first day, `2026-01-31`. */
  fromDate?: string | undefined
  /** The last day. */
  toDate?: string | undefined
}

/** Options of `openaiTools.mcp`. */
export interface OpenAiMcpOptions {
  /** What the server is called in the names of its tools. */
  label: string
  /** `https` address of the server. */
  url: string
  /** Goes to the service with each request, and nowhere else. */
  authorization?: string | undefined
  /** The tools that the model may call. Default: all. */
  allowedTools?: readonly string[] | undefined
  /** Whether a person is asked before each call. Default: `always`. */
  requireApproval?: 'always' | 'never' | undefined
}

/**
 * Tools that the Responses API runs, for the option `serverTools`. Each is the declaration of the service as plain JSON.
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
  /** Searches files that were put into vector stores of the service. */
  fileSearch: ({ vectorStoreIds, maxResults }: { vectorStoreIds: readonly string[]; maxResults?: number }): JsonObject => ({
    type: 'file_search',
    vector_store_ids: [...vectorStoreIds],
    ...(maxResults !== undefined && { max_num_results: maxResults }),
  }),
  /** Runs Python in a container of the service. */
  codeInterpreter: ({ fileIds }: { fileIds?: readonly string[] } = {}): JsonObject => ({
    type: 'code_interpreter',
    container: { type: 'auto', ...(fileIds !== undefined && { file_ids: [...fileIds] }) },
  }),
  /** Makes pictures. `partialImages` are shown while one is drawn, 0 to 3. */
  imageGeneration: ({ size, quality, partialImages }: { size?: string; quality?: string; partialImages?: number } = {}): JsonObject => ({
    type: 'image_generation',
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(partialImages !== undefined && { partial_images: partialImages }),
  }),
  /** Calls tools of an MCP server. */
  mcp: ({ label, url, authorization, allowedTools, requireApproval = 'always' }: OpenAiMcpOptions): JsonObject => ({
    ...{ type: 'mcp', server_label: label, server_url: url, require_approval: requireApproval },
    ...(authorization !== undefined && { authorization }),
    ...(allowedTools !== undefined && { allowed_tools: [...allowedTools] }),
  }),
  /** Lets the model search among tools that are declared with `defer_loading`. */
  toolSearch: (): JsonObject => searchJson,
  /** Runs commands in a container of the service. */
  shell: (): JsonObject => ({ type: 'shell', environment: { type: 'container_auto' } }),
} as const

/**
 * Tools that xAI runs behind the Responses API, for the option `serverTools`. Each is the declaration of the service as plain JSON.
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

/** The declaration of the search among tools. */
export const searchJson = { type: 'tool_search' }

/** Tools that the service asks its caller to run, and nobody here does. */
const ofCaller: ReadonlySet<string> = new Set(['function', 'custom', 'computer', 'computer_use_preview', 'apply_patch', 'local_shell'])

/** What must be asked for so that an answer says what a tool found. */
const contents: Readonly<Record<string, string>> = {
  web_search: 'web_search_call.action.sources',
  file_search: 'file_search_call.results',
  code_interpreter: 'code_interpreter_call.outputs',
}

/** What the answer should include beside text. */
export function includedFor(tools: ServerTools): string[] {
  return tools.flatMap(({ type }) => (typeof type === 'string' ? (ownOf(contents, type) ?? []) : []))
}

/** Throws `ConfigError` `invalidOption` for declarations that the service would refuse. */
export function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    const { type, allowed_domains: allowed, excluded_domains: excluded, environment, execution } = tool
    if (typeof type !== 'string') refuseServerTools('an entry has no type. Use openaiTools, or the declaration of the service')
    const isLocal = (type === 'shell' && Object(environment).type === 'local') || execution === 'client'
    if (ofCaller.has(type) || isLocal)
      refuseServerTools(`the service does not run ${type} as it is declared here. Make it a tool of the agent`)
    if (allowed !== undefined && excluded !== undefined)
      refuseServerTools(`${type} has allowed and excluded domains; the service takes one of them`)
    if (type === 'mcp') checkMcp(tool)
  }
}

function checkMcp({ server_url: url, connector_id: connector, tunnel_id: tunnel, server_label: label }: JsonObject): void {
  if (typeof label !== 'string' || label === '') refuseServerTools('an MCP server has no server_label')
  const given = [url, connector, tunnel].filter((each) => each !== undefined)
  if (given.length !== 1)
    refuseServerTools(`the MCP server ${JSON.stringify(label)} has ${given.length} of server_url, connector_id and tunnel_id; it needs one`)
}

import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ServerTools } from '../kit/server-tools.ts'

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
 * Source: docs/providers/openai-responses.md#service-tools
 */
export const openaiTools = {
  /** Searches the web. */
  webSearch: ({
    allowedDomains,
    contextSize,
  }: {
    allowedDomains?: readonly string[]
    contextSize?: 'low' | 'medium' | 'high'
  } = {}): JsonObject => ({
    type: 'web_search',
    ...(allowedDomains !== undefined && { filters: { allowed_domains: [...allowedDomains] } }),
    ...(contextSize !== undefined && { search_context_size: contextSize }),
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
  toolSearch: (): JsonObject => ({ type: 'tool_search' }),
  /** Runs commands in a container of the service. */
  shell: (): JsonObject => ({ type: 'shell', environment: { type: 'container_auto' } }),
} as const

/** What must be asked for so that an answer says what a tool found. */
const contents: Readonly<Record<string, string>> = {
  web_search: 'web_search_call.action.sources',
  file_search: 'file_search_call.results',
  code_interpreter: 'code_interpreter_call.outputs',
}

/** What the answer should include beside text. */
export function includedFor(tools: ServerTools): string[] {
  return tools.flatMap(({ type }) => (typeof type === 'string' && Object.hasOwn(contents, type) ? (contents[type] ?? []) : []))
}

/** Throws `ConfigError` `invalidOption` for declarations that the service would refuse. */
export function checkServerTools(tools: ServerTools): void {
  for (const { type, server_url: url, connector_id: connector, tunnel_id: tunnel, server_label: label } of tools) {
    if (typeof type !== 'string') refuse('an entry has no type. Use openaiTools, or the declaration of the service')
    if (type !== 'mcp') continue
    if (typeof label !== 'string' || label === '') refuse('an MCP server has no server_label')
    const given = [url, connector, tunnel].filter((each) => each !== undefined)
    if (given.length !== 1)
      refuse(`the MCP server ${JSON.stringify(label)} has ${given.length} of server_url, connector_id and tunnel_id; it needs one`)
  }
}

function refuse(what: string): never {
  throw new ConfigError('invalidOption', `serverTools: ${what}.`)
}

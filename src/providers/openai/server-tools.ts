import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { toJson } from '../kit/encode/json-pieces.ts'
import { refuseServerTools, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'

/** The user's location: `{ country: 'DE', city: 'Bonn' }`. */
type UserLocation = { city?: string; region?: string; country?: string; timezone?: string }

/** Options for `chatTools.webSearch`. */
export interface ChatWebSearchOptions {
  /** Amount of search content that the model gets. */
  contextSize?: 'low' | 'medium' | 'high' | undefined
  userLocation?: UserLocation | undefined
}

/** Options for `openrouterTools.webSearch`. */
export interface OpenRouterWebSearchOptions {
  /** Search engine, such as `exa`. Default: the search of the model's provider, if any. */
  engine?: string | undefined
  maxResults?: number | undefined
  allowedDomains?: readonly string[] | undefined
  excludedDomains?: readonly string[] | undefined
}

/**
 * Provider-executed tools of OpenAI and Groq on Chat Completions, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/openai.md
 *
 * @example
 * ```ts
 * const model = openai('gpt-5-search-api', { apiKey, serverTools: [chatTools.webSearch({ contextSize: 'low' })] })
 * ```
 */
export const chatTools = {
  /** Searches the web, with OpenAI's search models. */
  webSearch: ({ contextSize, userLocation }: ChatWebSearchOptions = {}): JsonObject => ({
    web_search_options: {
      ...(contextSize !== undefined && { search_context_size: contextSize }),
      ...(userLocation !== undefined && { user_location: { type: 'approximate', approximate: { ...userLocation } } }),
    },
  }),
  /** Searches the web, with Groq's gpt-oss models. */
  groqBrowserSearch: (): JsonObject => ({ type: 'browser_search' }),
  /** Runs Python, with Groq's gpt-oss models. */
  groqCodeInterpreter: (): JsonObject => ({ type: 'code_interpreter' }),
} as const

/**
 * OpenRouter's provider-executed tools and plugins, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/openai.md
 *
 * @example
 * ```ts
 * const serverTools = [openrouterTools.webSearch({ maxResults: 3 }), openrouterTools.plugin('file-parser', { pdf: { engine: 'native' } })]
 * const model = openrouter('anthropic/claude-sonnet-5', { apiKey, serverTools })
 * ```
 */
export const openrouterTools = {
  /** Searches the web. */
  webSearch: ({ engine, maxResults, allowedDomains, excludedDomains }: OpenRouterWebSearchOptions = {}): JsonObject => ({
    type: 'openrouter:web_search',
    parameters: {
      ...(engine !== undefined && { engine }),
      ...(maxResults !== undefined && { max_results: maxResults }),
      ...(allowedDomains !== undefined && { allowed_domains: [...allowedDomains] }),
      ...(excludedDomains !== undefined && { excluded_domains: [...excludedDomains] }),
    },
  }),
  /** Lets the model search tools that are declared with `defer_loading`. */
  toolSearch: (): JsonObject => searchDeclaration,
  /** Reads web pages. */
  webFetch: (): JsonObject => ({ type: 'openrouter:web_fetch' }),
  /** Generates images. */
  imageGeneration: (parameters: JsonObject = {}): JsonObject => ({ type: 'openrouter:image_generation', parameters }),
  /** Returns the date and time. */
  datetime: (parameters: JsonObject = {}): JsonObject => ({ type: 'openrouter:datetime', parameters }),
  /** Enables a plugin, such as `file-parser` or `response-healing`, with its `options`. */
  plugin: (id: string, options: JsonObject = {}): JsonObject => ({ plugins: [{ ...options, id }] }),
} as const

/** Request fields that may accompany the tools. */
const topLevelNames: ReadonlySet<string> = new Set([
  ...['web_search_options', 'plugins', 'max_tool_calls', 'stop_server_tools_when', 'compound_custom', 'search_settings'],
])

/** Tool types that the caller runs, not the provider. */
const ofCaller: ReadonlySet<string> = new Set(['function', 'custom'])

/** Throws `ConfigError` `invalidOption` for declarations that the provider would reject. */
export function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    const { type, parameters } = tool
    if ('search_parameters' in tool)
      refuseServerTools(
        'xAI has removed search_parameters from Chat Completions. Use openaiResponses with xaiTools of phi-core/providers/openai',
      )
    if (type === undefined) checkTopLevel(tool)
    else if (typeof type !== 'string' || ofCaller.has(type))
      refuseServerTools(`the service does not run ${JSON.stringify(type)}. Make it a tool of the agent`)
    const { allowed_domains: allowed, excluded_domains: excluded }: Record<string, unknown> = Object(parameters)
    if (allowed !== undefined && excluded !== undefined)
      refuseServerTools(`${String(type)} has both allowed and excluded domains; set only one`)
  }
  if (tools.length > 0 && tools.every(({ defer_loading: isDeferred }) => isDeferred === true))
    refuseServerTools('every tool has defer_loading; at least one must not')
}

/** Throws the same error for tools that OpenAI does not run on this API, which supports only a search option. */
export function checkOpenAiTools(tools: ServerTools): void {
  const typed = tools.find(({ type }) => type !== undefined)
  if (typed !== undefined)
    refuseServerTools(
      `OpenAI does not run ${JSON.stringify(typed.type)} on Chat Completions. Use openaiResponses, or chatTools.webSearch with a search model`,
    )
}

function checkTopLevel(tool: JsonObject): void {
  const names = Object.keys(tool)
  const odd = names.find((name) => !topLevelNames.has(name))
  if (names.length > 0 && odd === undefined) return
  const what = odd === undefined ? 'an entry is empty' : `${JSON.stringify(odd)} is not a provider-executed tool`
  refuseServerTools(`${what}. Use chatTools or openrouterTools, or a declaration with a type`)
}

const searchDeclaration = { type: 'openrouter:tool_search' }

/** Returns OpenRouter's search declaration, unless `tools` contains it. */
export function searchJson(tools: ServerTools): string {
  return tools.some(({ type }) => type === searchDeclaration.type) ? '' : toJson(searchDeclaration)
}

/** Returns the request fields for `tools`: comma-separated declarations, and other fields. */
export function serverToolParts(tools: ServerTools): { declared: string; topLevel: JsonObject } {
  const declared = tools.filter(({ type }) => type !== undefined).map((tool) => toJson(tool))
  const topLevel: JsonObject = {}
  for (const tool of tools) {
    if (tool.type !== undefined) continue
    for (const [name, value] of Object.entries(tool)) topLevel[name] = joined(topLevel[name], value)
  }
  return { declared: declared.join(','), topLevel }
}

/** Merges plugins into one list. For other fields, the last value wins. */
function joined(before: JsonValue | undefined, value: JsonValue): JsonValue {
  return Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value
}

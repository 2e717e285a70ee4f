import { parsedJson } from '../base/json/json-value.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { withMethods } from '../contract/shape/shape.ts'
import type { McpCallOptions, McpClientLike, McpRequestOptions, McpTool } from './client-like.ts'

/** Untrusted tool entry from the browser's list. */
export interface ModelContextTool {
  name: string
  title?: string
  description: string
  inputSchema?: object
  annotations?: { readOnlyHint?: boolean; consequentialHint?: boolean; debugging?: boolean }
}

/** The parts of `document.modelContext` that this package uses. Source: https://webmachinelearning.github.io/webmcp */
export interface ModelContextLike<Tool extends ModelContextTool = ModelContextTool> {
  getTools(): Promise<readonly Tool[]>
  /** Resolves with the result as JSON text, or `null` if the document navigated away. */
  executeTool(tool: Tool, input?: object, options?: { signal?: AbortSignal }): Promise<string | null>
  addEventListener(type: 'toolchange', listener: () => void): void
  removeEventListener(type: 'toolchange', listener: () => void): void
}

const aModelContext = withMethods('document.modelContext', 'getTools', 'executeTool', 'addEventListener', 'removeEventListener')

/**
 * Wraps the WebMCP tools of a web page as a connected client for `mcpTools`. An agent in the page then uses them under the same rules as a
 * server's tools.
 *
 * **Contract**
 * - Lists tools of same-origin documents in the browser's order. The first of duplicate names wins. Skips debugging tools. Consequential
 *   tools need approval.
 * - The list follows registrations and removals. Cancelling a call cancels the tool.
 * - Throws `ConfigError` `invalidOption` if `context` is not a model context: check `'modelContext' in document` first.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const tools = await mcpTools(webMcpClient(document.modelContext), { prefix: 'page' })
 * const agent = new Agent({ model, tools, owns: [tools] })
 */
export function webMcpClient<Tool extends ModelContextTool>(context: ModelContextLike<Tool>): McpClientLike {
  checkOptions(context, aModelContext, 'context')
  let known = new Map<string, Tool>()
  const list = async (): Promise<McpTool[]> => {
    const tools = (await context.getTools()).filter(({ annotations }) => annotations?.debugging !== true)
    // Reverse the list, so that the first of duplicate names wins.
    known = new Map(tools.toReversed().map((tool) => [tool.name, tool]))
    return [...known.values()].reverse().map(asMcpTool)
  }
  const changed = () => void client.fallbackNotificationHandler?.({ method: 'notifications/tools/list_changed' }).catch(() => undefined)
  const client: McpClientLike = {
    request: async ({ method }) => {
      if (method === 'tools/list') return { tools: await list() }
      throw new Error(`A page has no ${method}.`)
    },
    callTool: async ({ name, arguments: input = {} }, given?: McpCallOptions, options: McpRequestOptions = given ?? {}) => {
      if (!known.has(name)) await list()
      const tool = known.get(name)
      if (tool === undefined) throw new Error(`The page no longer offers the tool ${JSON.stringify(name)}.`)
      const { signal } = options
      return resultIn(await context.executeTool(tool, input, signal === undefined ? {} : { signal }))
    },
    getServerCapabilities: () => ({ tools: {} }),
    close: async () => context.removeEventListener('toolchange', changed),
  }
  context.addEventListener('toolchange', changed)
  return client
}

function asMcpTool({ name, title, description, inputSchema, annotations: hints }: ModelContextTool): McpTool {
  return {
    ...{ name, description, inputSchema: inputSchema ?? { type: 'object', properties: {} } },
    ...(title !== undefined && title !== '' && { title }),
    ...(hints !== undefined && {
      annotations: { readOnlyHint: hints.readOnlyHint === true, destructiveHint: hints.consequentialHint === true },
    }),
  }
}

/** Converts the result of a web page: any JSON, or an MCP result. */
function resultIn(result: string | null): unknown {
  if (result === null) return { content: [{ type: 'text', text: 'The page navigated away before it responded.' }], isError: true }
  const value = parsedJson(result) ?? result
  if (Array.isArray(Object(value).content)) return value
  const text = typeof value === 'string' ? value : result
  return { content: [{ type: 'text', text }], ...(typeof value === 'object' && value !== null && { structuredContent: value }) }
}

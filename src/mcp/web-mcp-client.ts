import { parsedJson } from '../base/json/json-value.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { withMethods } from '../contract/shape/shape.ts'
import type { McpCallOptions, McpClientLike, McpRequestOptions, McpTool } from './client-like.ts'

/** A tool as the browser lists it for a page. Nothing in it is trusted. */
export interface ModelContextTool {
  name: string
  title?: string
  description: string
  inputSchema?: object
  annotations?: { readOnlyHint?: boolean; consequentialHint?: boolean; debugging?: boolean }
}

/** What of `document.modelContext` is used. Source: https://webmachinelearning.github.io/webmcp */
export interface ModelContextLike<Tool extends ModelContextTool = ModelContextTool> {
  getTools(): Promise<readonly Tool[]>
  /** Resolves with the result as JSON text; `null` where the page went elsewhere meanwhile. */
  executeTool(tool: Tool, input?: object, options?: { signal?: AbortSignal }): Promise<string | null>
  addEventListener(type: 'toolchange', listener: () => void): void
  removeEventListener(type: 'toolchange', listener: () => void): void
}

const aModelContext = withMethods('document.modelContext', 'getTools', 'executeTool', 'addEventListener', 'removeEventListener')

/**
 * The tools that a page offers by WebMCP, as a connected client for `mcpTools`: so an agent in the page has them under the same rules as those of a server.
 *
 * **Contract**
 * - Tools of documents of the same origin, as the browser lists them; of two with one name the first. Those for debugging are left out, and a consequential one asks a person first.
 * - The list follows what the page registers and takes back. A call that is cancelled cancels the tool.
 * - Throws `ConfigError` `invalidOption` for what is no model context: look whether `'modelContext' in document` first.
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
    // From the end: the first of a name stays.
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
      if (tool === undefined) throw new Error(`The page offers no tool ${JSON.stringify(name)} any more.`)
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

/** Pages answer with any JSON; some as a server of MCP would. */
function resultIn(result: string | null): unknown {
  if (result === null)
    return { content: [{ type: 'text', text: 'The page went to another address before it had answered.' }], isError: true }
  const value = parsedJson(result) ?? result
  if (Array.isArray(Object(value).content)) return value
  const text = typeof value === 'string' ? value : result
  return { content: [{ type: 'text', text }], ...(typeof value === 'object' && value !== null && { structuredContent: value }) }
}

import { escapeControls } from '../base/text/characters.ts'
import { toolUi } from './apps/app-meta.ts'
import { anyResult, type McpClientLike, type McpTool } from './client-like.ts'
import { listAll, type ServerList } from './features/requests.ts'

const toolList: ServerList<McpTool> = { method: 'tools/list', field: 'tools', noun: 'tool', read: readTool }

/**
 * Lists all tools from a server, page by page, in the server's order. Returns none if the server has no tools. Skips entries without a
 * name. Rejects as {@link listAll} does.
 */
export async function listTools(client: McpClientLike, timeout: number): Promise<McpTool[]> {
  const capabilities = client.getServerCapabilities()
  if (capabilities !== undefined && capabilities.tools === undefined) return []
  return listAll(toolList, (request) => client.request(request, anyResult, { timeout }))
}

/** Returns the valid parts of an entry, without control characters; empty if it has no name. */
function readTool(entry: unknown): McpTool[] {
  const { name, title, description, inputSchema, outputSchema, annotations, _meta }: Record<string, unknown> = Object(entry)
  if (typeof name !== 'string' || name === '') return []
  const hints: Record<string, unknown> | undefined =
    annotations !== null && typeof annotations === 'object' ? { ...annotations } : undefined
  if (typeof hints?.title === 'string') hints.title = escapeControls(hints.title)
  const ui = toolUi(_meta)
  return [
    {
      name,
      ...(typeof title === 'string' && { title: escapeControls(title) }),
      ...(typeof description === 'string' && { description: escapeControls(description) }),
      ...(inputSchema !== undefined && { inputSchema }),
      ...(outputSchema !== undefined && { outputSchema }),
      ...(hints !== undefined && { annotations: hints }),
      ...(ui !== undefined && { ui }),
    },
  ]
}

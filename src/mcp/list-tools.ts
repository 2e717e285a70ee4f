import { escapeControls } from '../base/text/characters.ts'
import { errorText } from '../contract/errors.ts'
import { oneLine } from './call-result.ts'
import { anyResult, type McpClientLike, type McpTool } from './client-like.ts'
import { McpError, mcpErrorCode } from './mcp-error.ts'

/** Maximum tools per server and maximum pages of a list. No model could use more. */
const maxTools = 1000
const maxPages = 100
/** Maximum characters of all tools: they are stored, and compared with every new list. */
const maxChars = 8 * 1024 * 1024

/**
 * Lists all tools of a server, page by page, in its order; none if the server has no tools. Skips entries without a name.
 *
 * Rejects with `McpError`:
 * - `connection` if the server cannot be reached.
 * - `unauthorized` if it refuses access.
 * - `protocol` for an invalid list, a repeated cursor, or more than 1,000 tools, 100 pages or 8 Mi characters.
 */
export async function listTools(client: McpClientLike, timeout: number): Promise<McpTool[]> {
  const capabilities = client.getServerCapabilities()
  if (capabilities !== undefined && capabilities.tools === undefined) return []
  const found: McpTool[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let chars = 0
  do {
    const page = await readPage(client, cursor, timeout)
    found.push(...page.tools)
    chars += JSON.stringify(page.tools).length
    if (chars > maxChars) throw new McpError('protocol', `The list of tools is larger than ${maxChars} characters.`)
    cursor = page.nextCursor
    if (cursor === undefined) continue
    if (seen.has(cursor)) throw new McpError('protocol', 'The list of tools does not end: the server gave the same cursor twice.')
    seen.add(cursor)
    if (seen.size >= maxPages || found.length > maxTools) break
  } while (cursor !== undefined)
  if (cursor === undefined && found.length <= maxTools) return found
  throw new McpError('protocol', `The list of tools does not end: it has more than ${maxPages} pages, or more than ${maxTools} tools.`)
}

async function readPage(
  client: McpClientLike,
  cursor: string | undefined,
  timeout: number,
): Promise<{ tools: McpTool[]; nextCursor?: string }> {
  const page = await client
    .request({ method: 'tools/list', ...(cursor !== undefined && { params: { cursor } }) }, anyResult, { timeout })
    .catch((error) => {
      // Without `cause`: errors of a client may hold secrets.
      throw new McpError(mcpErrorCode(error), `The server did not list its tools: ${oneLine(errorText(error), 2000)}`)
    })
  const { tools, nextCursor }: Record<string, unknown> = Object(page)
  if (!Array.isArray(tools)) throw new McpError('protocol', 'The server answered tools/list with something else than a list of tools.')
  // Some servers end with an empty cursor.
  return { tools: tools.flatMap(readTool), ...(typeof nextCursor === 'string' && nextCursor !== '' && { nextCursor }) }
}

/** Returns the valid parts of an entry, without control characters; empty if it has no name. */
function readTool(entry: unknown): McpTool[] {
  const { name, title, description, inputSchema, annotations }: Record<string, unknown> = Object(entry)
  if (typeof name !== 'string' || name === '') return []
  const hints: Record<string, unknown> | undefined =
    annotations !== null && typeof annotations === 'object' ? { ...annotations } : undefined
  if (typeof hints?.title === 'string') hints.title = escapeControls(hints.title)
  return [
    {
      name,
      ...(typeof title === 'string' && { title: escapeControls(title) }),
      ...(typeof description === 'string' && { description: escapeControls(description) }),
      ...(inputSchema !== undefined && { inputSchema }),
      ...(hints !== undefined && { annotations: hints }),
    },
  ]
}

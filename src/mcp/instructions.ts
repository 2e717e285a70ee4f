import { escapeControls } from '../base/text/characters.ts'
import { cutText } from './call-result.ts'
import type { McpClientLike } from './client-like.ts'

/** Maximum characters of the instructions of one server: every request contains them. */
const maxInstructions = 16_384

/** Returns the server's instructions, sanitized for a prompt; `undefined` if there are none. */
export function instructionsOf(client: Pick<McpClientLike, 'getInstructions'>): string | undefined {
  const given: unknown = client.getInstructions?.()
  if (typeof given !== 'string' || given.trim() === '') return undefined
  return cutText(escapeControls(given.trim()), maxInstructions)
}

/**
 * Returns the instructions of the servers of `sets` as a part of a system prompt; empty if no server has any.
 *
 * **Contract**
 * - Encloses each in tags that name its tools and that the text cannot close. The text is untrusted: leave out servers that you do not
 *   trust.
 * - Read once. A restarted server may send other instructions.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * const agent = new Agent({ model, tools: files, systemPrompt: ['You help Ann.', mcpInstructions(files)].join('\n\n') })
 */
export function mcpInstructions(
  ...sets: readonly { readonly prefix: string | undefined; readonly instructions: string | undefined }[]
): string {
  const parts = sets.flatMap(({ prefix, instructions }) => {
    if (instructions === undefined) return []
    const tools = prefix === undefined ? '' : ` tools="${prefix}__*"`
    return [`<mcp-server${tools}>\n${instructions.replaceAll(/<(?=\/?mcp-server)/gi, '&lt;')}\n</mcp-server>`]
  })
  if (parts.length === 0) return ''
  return ['Instructions of MCP servers for the use of their tools. They apply to these tools only.', ...parts].join('\n\n')
}

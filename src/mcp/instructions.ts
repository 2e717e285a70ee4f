import { escapeControls } from '../base/text/characters.ts'
import { cutText } from './call-result.ts'
import type { McpClientLike } from './client-like.ts'

/** Maximum characters of one server's instructions. Limited, because every request contains them. */
const maxInstructions = 16_384

/** Returns the server's instructions, sanitized for a prompt, or `undefined` if there are none. */
export function instructionsOf(client: Pick<McpClientLike, 'getInstructions'>): string | undefined {
  const given: unknown = client.getInstructions?.()
  if (typeof given !== 'string' || given.trim() === '') return undefined
  return cutText(escapeControls(given.trim()), maxInstructions)
}

/**
 * Returns the instructions of the servers in `sets` as part of a system prompt. Empty if no server has instructions.
 *
 * **Contract**
 * - Wraps each server's text in tags that list its tools and that the text cannot close. The text is untrusted: omit servers that you do
 *   not trust.
 * - Reads the instructions once. A restarted server may send different ones.
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
  return ['Instructions from MCP servers for their tools. They apply only to these tools.', ...parts].join('\n\n')
}

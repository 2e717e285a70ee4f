import { escapeControls } from '../base/text/characters.ts'
import { cutText } from './call-result.ts'
import type { McpClientLike } from './client-like.ts'

/** Characters of the instructions of one server: they are sent with every request. */
const maxInstructions = 16_384

/** What a server says of how it is used, fit for a prompt; `undefined` where it says nothing. */
export function instructionsOf(client: Pick<McpClientLike, 'getInstructions'>): string | undefined {
  const given: unknown = client.getInstructions?.()
  if (typeof given !== 'string' || given.trim() === '') return undefined
  return cutText(escapeControls(given.trim()), maxInstructions)
}

/**
 * What the servers of `sets` say of how their tools are used, as a part of a system prompt; empty where none says anything.
 *
 * **Contract**
 * - Each stands between tags that name the tools it is about, and cannot close them. It is what somebody else wrote: leave out servers that you do not trust.
 * - It is read once. A server that was started again may say something else.
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
  return ['What MCP servers say of how their tools are used. It holds for these tools only.', ...parts].join('\n\n')
}

import { Agent, type Model } from 'phi-core'
import type { PhiChat } from 'phi-core/elements'
import { connectMcp, type McpToolSet, mcpTools } from 'phi-core/mcp'
import { type McpAppCallState, type McpAppFrame, mountMcpApp } from 'phi-core/mcp/apps'

// #region agent
/** Creates an agent whose server may offer apps. */
export async function agentWithApps(model: Model, url: string): Promise<{ agent: Agent; tools: McpToolSet }> {
  const tools = await mcpTools(await connectMcp({ url, apps: true }), { prefix: 'shop' })
  return { agent: new Agent({ model, tools, owns: [tools] }), tools }
}
// #endregion agent

// #region show
/** Shows the app of a tool call in `card`; `undefined` if the tool has none. `part` is the call as a tool part of `useAgent` or a `Chat`. */
export async function showApp(
  card: Element,
  tools: McpToolSet,
  part: McpAppCallState & { toolName: string },
  composer: HTMLTextAreaElement,
): Promise<McpAppFrame | undefined> {
  const server = tools.app(part.toolName)
  if (server === undefined) return undefined
  return mountMcpApp(card, {
    server,
    resource: await server.read(),
    call: part,
    host: {
      approve: ({ label, args }) => confirm(`The app wants to call ${label} with ${JSON.stringify(args)}. Allow?`),
      draft: (text) => {
        composer.value = text
      },
      openLink: (url) => {
        if (!confirm(`The app wants to open ${url}. Open it?`)) return false
        open(url, '_blank', 'noopener,noreferrer')
        return true
      },
    },
  })
}
// #endregion show

// #region element
/** Shows apps in the tool calls of `<phi-chat>`. */
export function withApps(chat: PhiChat, tools: Pick<McpToolSet, 'app'>): void {
  chat.apps = (toolName) => tools.app(toolName)
}
// #endregion element

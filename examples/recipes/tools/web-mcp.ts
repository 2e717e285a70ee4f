import { Agent, type Model } from 'phi-core'
import { type ModelContextLike, webMcpClient } from 'phi-core/browser'
import { mcpTools } from 'phi-core/tools'

/** Creates an agent with the tools of its page; `context` is `document.modelContext`, if the browser supports it. */
export async function pageAgent(model: Model, context: ModelContextLike): Promise<Agent> {
  const tools = await mcpTools(webMcpClient(context), { prefix: 'page' })
  return new Agent({ model, tools, owns: [tools] })
}

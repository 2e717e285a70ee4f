import { Agent } from 'phi-core'
import { type AnthropicOptions, anthropic, anthropicTools } from 'phi-core/providers/anthropic'

/** Searches the web and returns the cited sources with the response. */
export async function research(options: AnthropicOptions, question: string): Promise<{ text: string; sources: string[] }> {
  const serverTools = [anthropicTools.webSearch({ maxUses: 3 })]
  const agent = new Agent({ model: anthropic('claude-sonnet-5', { ...options, serverTools }), limits: { maxSearches: 10 } })
  const { text, messages } = await agent.prompt(question).result
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  const citations = blocks.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
  return { text, sources: [...new Set(citations.flatMap(({ url }) => url ?? []))] }
}

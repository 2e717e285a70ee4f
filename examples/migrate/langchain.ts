import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type UsageMetadata } from '@langchain/core/messages'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

const weather = tool(({ city }) => `${city}: 4 °C, rain`, {
  name: 'weather',
  description: 'Current weather in a city.',
  schema: z.object({ city: z.string() }),
})

const tokensOf = (chunk: { usage_metadata?: UsageMetadata | undefined }) => chunk.usage_metadata?.total_tokens ?? 0

export async function ask(model: BaseChatModel, prompt: string, write: (text: string) => void): Promise<number> {
  const agent = createAgent({ model, tools: [weather] })
  const messages = [{ role: 'user', content: prompt }]
  let tokens = 0
  for await (const [chunk] of await agent.stream({ messages }, { streamMode: 'messages', recursionLimit: 11 })) {
    if (!(chunk instanceof AIMessageChunk)) continue
    write(chunk.text)
    tokens += tokensOf(chunk)
  }
  return tokens
}

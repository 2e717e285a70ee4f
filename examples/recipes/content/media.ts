import { Agent, type ImageContent, type Model } from 'phi-core'

/** Draws a picture, then changes it: the second prompt sends the picture back to the model. */
export async function drawAndChange(model: Model, wish: string, change: string): Promise<ImageContent[]> {
  const agent = new Agent({ model })
  await agent.prompt(wish).result
  await agent.prompt(change).result
  const blocks = agent.messages.flatMap((message) => (message.role === 'assistant' ? message.content : []))
  return blocks.filter((block) => block.type === 'image')
}

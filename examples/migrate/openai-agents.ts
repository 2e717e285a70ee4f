import { Agent, type Model, run, tool } from '@openai/agents-core'
import { z } from 'zod'

const weather = tool({
  name: 'weather',
  description: 'Current weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: 4 °C, rain`,
})

export async function ask(model: Model, prompt: string, write: (text: string) => void): Promise<number> {
  const agent = new Agent({ name: 'assistant', model, tools: [weather] })
  const result = await run(agent, prompt, { stream: true, maxTurns: 5 })
  for await (const text of result.toTextStream()) write(text)
  await result.completed
  return result.state.usage.totalTokens
}

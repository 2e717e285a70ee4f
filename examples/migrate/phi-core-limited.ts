import { Agent, defineTool, type Model } from 'phi-core'
import { z } from 'zod'

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `${city}: 4 °C, rain`,
})

export async function ask(model: Model, prompt: string, write: (text: string) => void): Promise<number | undefined> {
  const run = new Agent({ model, tools: [weather], limits: { maxTurns: 5 } }).prompt(prompt)
  for await (const text of run.textStream) write(text)
  return (await run.result).usage.totalTokens
}

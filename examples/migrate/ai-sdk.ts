import { type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const weather = tool({
  description: 'Current weather in a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => `${city}: 4 °C, rain`,
})

export async function ask(model: LanguageModel, prompt: string, write: (text: string) => void): Promise<number | undefined> {
  const result = streamText({ model, tools: { weather }, prompt, stopWhen: stepCountIs(5) })
  for await (const text of result.textStream) write(text)
  return (await result.totalUsage).totalTokens
}

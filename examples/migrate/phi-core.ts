import { Agent, defineTool, type Model } from 'phi-core'
import { turnCount } from 'phi-core/loop'
import { z } from 'zod'

// #region limited
export async function askLimited(model: Model, prompt: string, write: (text: string) => void): Promise<number | undefined> {
  const run = new Agent({ model, tools: [weather], limits: { maxTurns: 5 } }).prompt(prompt)
  for await (const text of run.textStream) write(text)
  return (await run.result).usage.totalTokens
}

// #region program
const weather = defineTool({
  name: 'weather',
  description: 'Current weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `${city}: 4 °C, rain`,
})
// #endregion limited

export async function ask(model: Model, prompt: string, write: (text: string) => void): Promise<number | undefined> {
  const run = new Agent({ model, tools: [weather], stopWhen: turnCount(5) }).prompt(prompt)
  for await (const text of run.textStream) write(text)
  return (await run.result).usage.totalTokens
}
// #endregion program

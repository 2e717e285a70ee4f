import { Agent, defineTool } from 'phi-core'
import { type AnthropicOptions, anthropic } from 'phi-core/providers/anthropic'

const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] }
const add = defineTool<{ a: number; b: number }>({ name: 'add', description: 'Adds.', parameters, execute: ({ a, b }) => `sum ${a + b}` })
export async function ask(question: string, options: AnthropicOptions, write: (text: string) => void): Promise<string> {
  const run = new Agent({ model: anthropic('claude-sonnet-4-6', options), tools: [add] }).prompt(question)
  for await (const text of run.textStream) write(text)
  return run.text()
}

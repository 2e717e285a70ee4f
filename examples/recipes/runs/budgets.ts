import { Agent, textOf } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'

export async function sharedBudget(write: (line: string) => void): Promise<void> {
  // Scripted models; no API call is made. They report the usage given here.
  const reader = new SubAgentTool({
    name: 'reader',
    description: 'Reads and reports.',
    model: scripted([{ text: 'It is about bees.', usage: { input: 900, output: 50 } }]),
  })
  const model = scripted([
    { toolCalls: [{ name: 'reader', arguments: { task: 'Read it.' } }], usage: { input: 80, output: 20 } },
    { text: 'never asked' },
  ])
  const agent = new Agent({ model, tools: [reader], limits: { maxTotalTokens: 1000 } })

  const { status, usage, messages } = await agent.prompt('What is it about?').result
  write(`${status}, own tokens: ${usage.totalTokens}`)
  const last = messages.at(-1)
  if (last?.role === 'user') write(textOf(last.content))
}

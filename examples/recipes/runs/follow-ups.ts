import { Agent, type Model } from 'phi-core'

/** Asks two questions in one run: the agent handles the second when it would otherwise stop. */
export async function askTwice(model: Model, first: string, second: string): Promise<string[]> {
  const agent = new Agent({ model, followUpMode: 'oneAtATime' })
  const run = agent.prompt(first)
  run.followUp(second)
  const { messages } = await run.result
  return messages.map((message) => message.role) // user, assistant, user, assistant
}

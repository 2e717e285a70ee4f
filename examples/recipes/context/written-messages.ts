import { Agent, type Model } from 'phi-core'

/** Imports a conversation of plain roles and texts, and sends the next prompt. */
export async function goOn(model: Model, question: string): Promise<string> {
  const agent = new Agent({
    model,
    systemPrompt: 'Answer in one word.',
    messages: [
      { role: 'user', content: 'What is the capital of Norway?' },
      { role: 'assistant', content: 'Oslo.' },
    ],
  })
  return agent.prompt({ role: 'user', content: question }).text()
}

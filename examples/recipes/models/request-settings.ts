import { Agent, type AgentTool, type Model, type RequestSettings } from 'phi-core'

/** Asks for the same thing in the same words each time, as far as the service can. */
const steady: RequestSettings = { temperature: 0, seed: 7, stopSequences: ['\n\n'] }

/** Makes the model look a word up before it says what it means. */
export async function define(model: Model, tools: AgentTool[], word: string): Promise<string> {
  const agent = new Agent({ model, tools, ...steady })
  const run = agent.prompt(`What does ${JSON.stringify(word)} mean?`, {
    // Until it has called one, the model must call a tool.
    toolChoice: 'required',
    thinking: 'low',
    // What this package has no name for, as the service calls it.
    body: { metadata: { feature: 'dictionary' } },
  })
  return run.text()
}

import { Agent, type AgentTool, type Model, type RequestSettings } from 'phi-core'

/** Makes responses as reproducible as the provider allows. */
const steady: RequestSettings = { temperature: 0, seed: 7, stopSequences: ['\n\n'] }

/** Makes the model look up a word before it explains it. */
export async function define(model: Model, tools: AgentTool[], word: string): Promise<string> {
  const agent = new Agent({ model, tools, ...steady })
  const run = agent.prompt(`What does ${JSON.stringify(word)} mean?`, {
    // The model must call a tool before it responds.
    toolChoice: 'required',
    thinking: 'low',
    // A field without a phi-core option.
    body: { metadata: { feature: 'dictionary' } },
  })
  return run.text()
}

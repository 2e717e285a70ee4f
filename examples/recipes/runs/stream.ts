import { Agent, type Model } from 'phi-core'

/** Writes the response while the model generates it. In Node: `stream(model, prompt, (text) => process.stdout.write(text))`. */
export async function stream(model: Model, prompt: string, write: (text: string) => void): Promise<void> {
  for await (const event of new Agent({ model }).prompt(prompt)) {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') write(event.delta.delta)
    if (event.type === 'providerRetry') write(`\n[retrying in ${event.delayMs} ms: ${event.error.message}]\n`)
    if (event.type === 'agentEnd' && event.error) write(`\n[${event.error.message}]\n`)
  }
}

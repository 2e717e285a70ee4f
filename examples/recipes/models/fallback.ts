import { Agent } from 'phi-core'
import { fallback } from 'phi-core/models'
import { scripted } from 'phi-core/testing'

export async function fallsBack(write: (line: string) => void): Promise<void> {
  // Scripted models need no network.
  const named = (id: string) => ({ config: { id, provider: id } })
  const first = scripted([{ text: '', fail: { code: 'rateLimited', message: 'Too many requests.' } }], named('first'))
  const second = scripted([{ text: 'Hello from the second model.' }, { text: 'Hello again.' }], named('second'))
  const agent = new Agent({ model: fallback([first, second], { coolDownMs: 60_000 }) })
  for (const question of ['Anybody there?', 'And now?']) {
    const run = agent.prompt(question)
    for await (const event of run) {
      if (event.type === 'modelFallback')
        write(`${event.from.provider} → ${event.to.provider}: ${event.error?.message ?? 'it failed recently'}`)
      if (event.type === 'messageEnd' && event.message.role === 'assistant') write(`${event.message.provider}: ${await run.text()}`)
    }
  }
}

import { Agent } from 'phi-core'
import { limited, limiter } from 'phi-core/models'
import { scripted } from 'phi-core/testing'

export async function takeTurns(write: (line: string) => void): Promise<void> {
  // A scripted model needs no network.
  const service = scripted(({ messages }) => {
    write(JSON.stringify(messages.at(-1)?.content))
    return { text: 'Done.' }
  })
  // One limiter for all models of a provider and all agents of this process.
  const shared = limiter({ concurrency: 1, requests: 500, tokens: 200_000 })
  const watched = new Agent({ model: limited(service, shared) })
  const nightly = new Agent({ model: limited(service, shared, { priority: 'background' }) })
  const runs = [nightly.prompt('Sort the archive.'), nightly.with({}).prompt('Sort the rest.'), watched.prompt('What time is it?')]
  await Promise.all(runs.map(({ result }) => result))
  write(`running: ${shared.running}, waiting: ${shared.waiting}`)
}

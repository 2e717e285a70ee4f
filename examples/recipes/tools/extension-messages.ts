import { Agent } from 'phi-core'
import { createStore } from 'phi-core/store'
import { scripted } from 'phi-core/testing'

export async function askWithNote(write: (line: string) => void): Promise<void> {
  const agent = new Agent({ model: scripted([{ text: 'A walrus is a large seal.' }]) })
  const store = createStore(agent)
  await agent.prompt([
    { role: 'user', content: 'What is a walrus?' },
    { role: 'extension', kind: 'asked-by', data: { person: 'Ann' } },
  ]).result
  await Promise.resolve() // The store publishes in a microtask.
  for (const { name, value } of store.getSnapshot().data) write(`${name}: ${JSON.stringify(value)}`)
}

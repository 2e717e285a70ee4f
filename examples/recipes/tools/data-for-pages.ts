import { Agent, defineTool, type InferData } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { z } from 'zod'

const data = { progress: z.object({ query: z.string(), found: z.number() }), highlight: z.string() }

/** For pages: `useAgent<Tools, Data>(session)`. */
export type Data = InferData<typeof data>

const search = defineTool({
  name: 'search',
  description: 'Searches the archive.',
  parameters: z.object({ query: z.string() }),
  execute: async ({ query }, ctx) => {
    // The same id: the second part replaces the first, in every user interface.
    ctx.data('progress', { query, found: 0 }, { id: ctx.toolCallId })
    const found = ['walrus.txt', 'whale.txt']
    ctx.data('progress', { query, found: found.length }, { id: ctx.toolCallId })
    ctx.data('highlight', 'walrus.txt', { transient: true })
    return found
  },
})

export async function searchWithProgress(write: (line: string) => void): Promise<void> {
  const model = scripted([{ toolCalls: [{ name: 'search', arguments: { query: 'whales' } }] }, { text: 'I found two files.' }])
  const agent = new Agent({ model, tools: [search], data })
  for await (const event of agent.prompt('Look for whales.')) {
    if (event.type === 'data') write(`${event.name}: ${JSON.stringify(event.value)}`)
  }
}

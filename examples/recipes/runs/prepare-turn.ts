import { Agent, defineTool } from 'phi-core'
import type { LoopHooks } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

const search = defineTool<{ words: string }>({
  name: 'search',
  description: 'Searches.',
  parameters: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
  execute: ({ words }) => `three pages about ${words}`,
})

export async function planThenWork(write: (line: string) => void): Promise<void> {
  // Scripted models; no API call is made.
  const strong = scripted([{ toolCalls: [{ name: 'search', arguments: { words: 'bees' } }] }])
  const cheap = scripted([{ text: 'Bees dance.' }])
  const hooks: LoopHooks = {
    // A strong model starts and must search. A cheap model continues without tools.
    prepareTurn: ({ turnIndex, systemPrompt }) =>
      turnIndex === 0
        ? { model: strong, thinking: 'high', toolChoice: 'required' }
        : { activeTools: [], temperature: 0, systemPrompt: `${systemPrompt} Answer in one sentence.` },
  }
  const run = new Agent({ model: cheap, tools: [search], systemPrompt: 'You know animals.', hooks }).prompt('Bees?')
  for await (const event of run) if (event.type === 'turnPrepared') write(`turn ${event.turnIndex}: ${JSON.stringify(event.changes)}`)
  write(await run.text())
}

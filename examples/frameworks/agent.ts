import { defineTool, type InferTools, memorySessionStore } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/adapters/http'
import { type ScriptedStep, scripted } from 'phi-core/providers/scripted'
import { z } from 'zod'

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  parameters: z.object({ city: z.string() }),
  needsApproval: true,
  execute: ({ city }) => ({ city, rain: 0.8 }),
})

/** What the pages know of the agent: the types of its tools, and nothing that runs. */
export type Tools = InferTools<readonly [typeof weather]>

/** Looks the weather up, unless it is asked for a story: that takes long, so that there is something to stop. */
const model = scripted(
  ({ messages }): ScriptedStep => {
    const asked = JSON.stringify(messages.at(-1)?.content)
    if (messages.at(-1)?.role === 'toolResult') return { text: 'Take an umbrella, says a scripted model.' }
    if (asked.includes('story')) return { text: `Once upon a time${' and then'.repeat(5000)} it ended.` }
    return { text: 'Let me see.', toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }
  },
  { delayMs: 10 },
)

/** The endpoint of all pages: sessions that go on when a page is closed. On this machine only. */
export function weatherApp() {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [weather] }) })
  return createAgentApp({ sessions, authorize: 'loopbackOnly' })
}
